//! A TLS server whose certificate nobody trusts.

use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// A certificate for 127.0.0.1, signed by itself.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBjTCCATOgAwIBAgIUShGYeckBgEozGNaoGHn2RbKHk4MwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMzE3MjUyMFoYDzIxMjYxMDMw
MTcyNTIwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQfxuRVaAAuzf6TQN+nKj7UepUMfT+ENxdnLTj8qF1wfZx8oWxNPZE+
IA+79+igFCQGKufUg+ZwWu9ZviVGIY1lo2EwXzAdBgNVHQ4EFgQUuX/qkb++m1pB
H7BsWOTsPkC/5ikwHwYDVR0jBBgwFoAUuX/qkb++m1pBH7BsWOTsPkC/5ikwDwYD
VR0RBAgwBocEfwAAATAMBgNVHRMBAf8EAjAAMAoGCCqGSM49BAMCA0gAMEUCIQDV
kXJpKZgMwXlw+1bELS9Uq5DpfrbwTwXRNa8fcog2NQIgUGRa18UdpK2xtyzmjvzG
mz8GnqERctRHue5DaDVf/D8=
-----END CERTIFICATE-----
";

/// Its key, which is used nowhere else.
const KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgO+vGegseGXuNvUxx
1dS22git4TOunsJyxzqHAyG3rDWhRANCAAQfxuRVaAAuzf6TQN+nKj7UepUMfT+E
NxdnLTj8qF1wfZx8oWxNPZE+IA+79+igFCQGKufUg+ZwWu9ZviVGIY1l
-----END PRIVATE KEY-----
";

/// The only authority that clients are to trust.
pub(super) const OTHER_AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUCi4+rYR3HgNVbRxbzr9NILJ+418wCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTIzMTcyMjMzWhgPMjEyNjEwMzAxNzIy
MzNaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
cryw274YaaRWIFtxeuRXaOko7s8uSAV2kG0xcGT+i4NiccyLxtKeviTGcNcv6dFV
IF8QFWmFQF5updrL2KYnPKNTMFEwHQYDVR0OBBYEFBiM8aFAp1olVO98SVrYC4vH
Ixu+MB8GA1UdIwQYMBaAFBiM8aFAp1olVO98SVrYC4vHIxu+MA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgcGEUWleS5G8FhhHgzB7CsQRS83TILaeK
0XlRDTAghDQCIQCoeWPW6FOyc6m93YZKykWRO+29w0NtLFJlfmG8e1LbbQ==
-----END CERTIFICATE-----
";

/// Starts the server and returns its address. It takes one connection.
pub(super) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        // The client ends the handshake.
        while connection.complete_io(&mut stream).is_ok() {}
    });
    format!("https://{address}")
}
