//! Tests of `adapters::github::downloads`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::str::FromStr;

use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

use super::*;
use crate::adapters::resolver::is_public;

fn attachments(api: &str, hosts: &[&str]) -> Downloads {
    created(Downloads::attachments, api, hosts)
}

fn archives(api: &str, hosts: &[&str]) -> Downloads {
    created(Downloads::archives, api, hosts)
}

fn created(
    create: fn(&Transport, &Url, &[String]) -> Downloads,
    api: &str,
    hosts: &[&str],
) -> Downloads {
    // No request is made: the set-up of plain HTTP will do, and needs no certificates.
    let plain = Url::parse("http://127.0.0.1:1").unwrap();
    let transport = Transport::new(&plain, Duration::from_secs(1), "tests").unwrap();
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    create(&transport, &Url::parse(api).unwrap(), &hosts)
}

#[tokio::test]
async fn only_github_and_its_stores_are_read() {
    let github = attachments("https://api.github.com", &DEFAULT_REDIRECT_HOSTS);
    for address in [
        "https://github.com/x",
        "https://GITHUB.com:443/x",
        "https://objects.githubusercontent.com/x?sig=1",
        "https://github-production-repository-file-5c1aeb.s3.amazonaws.com/1/2?X-Amz-Signature=3",
    ] {
        assert!(
            github.is_allowed(&Url::parse(address).unwrap()),
            "{address}"
        );
    }
    for address in [
        "http://github.com/x",
        "http://objects.githubusercontent.com/x",
        "https://github.com:8443/x",
        "https://objects.githubusercontent.com:8443/x",
        "https://github.com.evil.example/x",
        "https://evilgithub.com/x",
        "https://evilgithubusercontent.com/x",
        "https://githubusercontent.com/x",
        "https://.githubusercontent.com/x",
        "https://objects.githubusercontent.com.evil.example/x",
        "https://github.com@evil.example/x",
        "https://user@github.com/x",
        "https://s3.amazonaws.com.evil.example/x",
        "https://ec2-1-2-3-4.compute-1.amazonaws.com/x",
        "https://localhost/x",
        "http://localhost/x",
        "http://127.0.0.1/x",
        "https://127.0.0.1/x",
        "https://127.1/x",
        "https://0x7f000001/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.169.254/x",
        "https://10.0.0.1/x",
        "ftp://github.com/x",
        "file:///etc/passwd",
        "data:text/plain,x",
    ] {
        let url = Url::parse(address);
        assert!(!url.is_ok_and(|url| github.is_allowed(&url)), "{address}");
    }
}

#[tokio::test]
async fn a_server_of_one_s_own_is_read_where_it_is_configured() {
    let server = attachments("https://ghe.example/api/v3", &["store.ghe.example"]);
    let simulator = attachments("http://127.0.0.1:4000", &[]);
    let plain = attachments("http://ghe.example/api/v3", &[]);
    for (who, address, welcome) in [
        (&server, "https://ghe.example/x", true),
        (&server, "https://store.ghe.example/x", true),
        (&server, "https://other.ghe.example/x", false),
        (&server, "https://github.com/x", false),
        (&simulator, "http://127.0.0.1:4000/x", true),
        (&simulator, "http://127.0.0.1:4001/x", false),
        (&simulator, "http://127.0.0.2:4000/x", false),
        (&simulator, "http://localhost:4000/x", false),
        (&simulator, "https://127.0.0.1:4000/x", false),
        (&plain, "http://ghe.example/x", false),
    ] {
        let url = Url::parse(address).unwrap();
        assert_eq!(who.is_allowed(&url), welcome, "{:?} {address}", who.own);
    }
}

#[tokio::test]
async fn archives_are_read_from_the_archive_server_alone() {
    let github = archives("https://api.github.com", &DEFAULT_REDIRECT_HOSTS);
    let cloud = archives("https://api.team.ghe.com", &[]);
    let server = archives("https://ghe.example/api/v3", &["store.ghe.example"]);
    let simulator = archives("http://127.0.0.1:4000", &[]);
    for (who, address, welcome) in [
        (
            &github,
            "https://codeload.github.com/o/r/legacy.tar.gz/s?token=t",
            true,
        ),
        (&github, "http://codeload.github.com/x", false),
        (&github, "https://codeload.github.com:8443/x", false),
        (&github, "https://github.com/x", false),
        (&github, "https://api.github.com/x", false),
        (&github, "https://objects.githubusercontent.com/x", false),
        (&github, "https://codeload.github.com.evil.example/x", false),
        (&cloud, "https://codeload.team.ghe.com/x", true),
        (&cloud, "https://codeload.other.ghe.com/x", false),
        (&cloud, "https://codeload.github.com/x", false),
        (&server, "https://ghe.example/_codeload/x", true),
        (&server, "https://codeload.ghe.example/x", true),
        (&server, "https://store.ghe.example/x", true),
        (&server, "https://other.ghe.example/x", false),
        (&server, "https://codeload.github.com/x", false),
        (&simulator, "http://127.0.0.1:4000/x", true),
        (&simulator, "http://127.0.0.1:4001/x", false),
        (&simulator, "https://codeload.github.com/x", false),
    ] {
        let url = Url::parse(address).unwrap();
        assert_eq!(who.is_allowed(&url), welcome, "{:?} {address}", who.own);
    }
}

#[test]
fn public_addresses_are_told_from_private_ones() {
    for (address, is) in [
        ("140.82.121.4", true),
        ("52.216.1.2", true),
        ("100.63.0.1", true),
        ("2606:50c0:8000::153", true),
        ("::ffff:140.82.121.4", true),
        ("64:ff9b::8c52:7904", true),
        ("0.0.0.0", false),
        ("10.1.2.3", false),
        ("100.64.0.1", false),
        ("127.0.0.1", false),
        ("169.254.169.254", false),
        ("172.16.0.1", false),
        ("192.0.0.8", false),
        ("192.168.1.1", false),
        ("198.18.0.1", false),
        ("203.0.113.7", false),
        ("224.0.0.1", false),
        ("255.255.255.255", false),
        ("::", false),
        ("::1", false),
        ("::127.0.0.1", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:169.254.169.254", false),
        ("64:ff9b::a9fe:a9fe", false),
        ("2002:7f00:1::", false),
        ("2001::1", false),
        ("2001:db8::1", false),
        ("fc00::1", false),
        ("fd00:ec2::254", false),
        ("fe80::1", false),
        ("ff02::1", false),
    ] {
        assert_eq!(is_public(address.parse().unwrap()), is, "{address}");
    }
}

#[tokio::test]
async fn a_name_of_this_machine_is_no_public_name_unless_it_is_configured() {
    let mut strangers = PublicResolver::new(std::iter::empty());
    let error = strangers.call(Name::from_str("localhost").unwrap()).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "localhost has no public network address"
    );
    let mut own = PublicResolver::new(["localhost".to_owned()].into_iter());
    let found = own.call(Name::from_str("localhost").unwrap()).await;
    assert!(found.unwrap().all(|address| address.ip().is_loopback()));
}

#[tokio::test]
async fn a_private_address_that_is_named_is_accepted_and_no_other() {
    let address = "127.0.0.1".parse().unwrap();
    let resolver = PublicResolver::new(std::iter::empty());
    let mut resolver = resolver.with_addresses(std::iter::once(address));
    let found = resolver.call(Name::from_str("localhost").unwrap()).await;
    assert!(found.unwrap().all(|found| found.ip() == address));
    let mut other = resolver.with_addresses(std::iter::once("127.0.0.9".parse().unwrap()));
    let error = other.call(Name::from_str("localhost").unwrap()).await;
    assert!(error.is_err());
}
