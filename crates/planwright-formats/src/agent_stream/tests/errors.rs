//! What can be done about which error.

use super::*;

#[test]
fn errors_are_classed_by_what_can_be_done() {
    for (message, status, want) in [
        ("", None, Class::Permanent),
        ("invalid request", Some(400), Class::Permanent),
        ("Prompt is too long", Some(400), Class::Permanent),
        ("Prompt is too long, try again", Some(429), Class::Permanent),
        ("The turns are used up (1).", None, Class::Permanent),
        ("syntax error at line 529", None, Class::Permanent),
        ("anything", Some(429), Class::Transient),
        ("anything", Some(500), Class::Transient),
        ("anything", Some(529), Class::Transient),
        ("anything", Some(408), Class::Transient),
        ("API Error: 503", None, Class::Transient),
        ("status code 502", None, Class::Transient),
        ("Rate limit exceeded", None, Class::Transient),
        ("Connection refused by the proxy", None, Class::Transient),
        ("request timed out", None, Class::Transient),
        ("anything", Some(401), Class::Fatal),
        ("API Error: 403 no access", None, Class::Fatal),
        ("timeout: permission denied", None, Class::Fatal),
        ("permission for /x was denied", Some(500), Class::Fatal),
        ("Credit balance is too low", Some(400), Class::Fatal),
        ("write failed: DISK IS FULL", None, Class::Fatal),
        ("Not logged in · run /login", None, Class::Fatal),
        (
            "No conversation found with session ID: x",
            None,
            Class::SessionExpired,
        ),
        ("No conversation found", Some(500), Class::SessionExpired),
    ] {
        assert_eq!(classify(message, status), want, "{message} {status:?}");
    }
}

#[test]
fn parts_of_a_sign_in_another_order_are_no_sign() {
    assert_eq!(
        classify("denied without permission", None),
        Class::Permanent
    );
    assert_eq!(classify("space is out", None), Class::Permanent);
}

#[test]
fn errors_name_what_is_behind_them() {
    for (message, status, want) in [
        (
            "Not logged in · Please run /login",
            None,
            Cause::Credentials,
        ),
        ("anything", Some(401), Cause::Credentials),
        ("API Error: 403 no access", None, Cause::Credentials),
        ("OAuth token has expired", None, Cause::Credentials),
        ("Credit balance is too low", Some(400), Cause::Credit),
        ("Connection error.", None, Cause::Network),
        (
            "getaddrinfo ENOTFOUND api.example.com",
            None,
            Cause::Network,
        ),
        ("connect ECONNREFUSED 127.0.0.1:9", None, Cause::Network),
        ("anything", Some(529), Cause::Overload),
        ("Rate limit exceeded", None, Cause::Overload),
        ("Prompt is too long", Some(400), Cause::Other),
        ("it broke", None, Cause::Other),
    ] {
        assert_eq!(cause(message, status), want, "{message} {status:?}");
        if matches!(want, Cause::Network | Cause::Overload) {
            assert_eq!(classify(message, status), Class::Transient, "{message}");
        }
    }
}
