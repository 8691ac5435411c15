//! Classes of errors.

use super::*;

#[test]
fn errors_are_classed_by_what_can_be_done() {
    for (message, status, want) in [
        ("", None, ErrorClass::Permanent),
        ("invalid request", Some(400), ErrorClass::Permanent),
        ("Prompt is too long", Some(400), ErrorClass::Permanent),
        (
            "Prompt is too long, try again",
            Some(429),
            ErrorClass::Permanent,
        ),
        ("The turns are used up (1).", None, ErrorClass::Permanent),
        ("syntax error at line 529", None, ErrorClass::Permanent),
        ("anything", Some(429), ErrorClass::Transient),
        ("anything", Some(500), ErrorClass::Transient),
        ("anything", Some(529), ErrorClass::Transient),
        ("anything", Some(408), ErrorClass::Transient),
        ("API Error: 503", None, ErrorClass::Transient),
        ("status code 502", None, ErrorClass::Transient),
        ("Rate limit exceeded", None, ErrorClass::Transient),
        (
            "Connection refused by the proxy",
            None,
            ErrorClass::Transient,
        ),
        ("request timed out", None, ErrorClass::Transient),
        ("anything", Some(401), ErrorClass::Fatal),
        ("API Error: 403 no access", None, ErrorClass::Fatal),
        ("timeout: permission denied", None, ErrorClass::Fatal),
        ("permission for /x was denied", Some(500), ErrorClass::Fatal),
        ("Credit balance is too low", Some(400), ErrorClass::Fatal),
        ("write failed: DISK IS FULL", None, ErrorClass::Fatal),
        ("Not logged in · run /login", None, ErrorClass::Fatal),
        (
            "No conversation found with session ID: x",
            None,
            ErrorClass::SessionExpired,
        ),
        (
            "No conversation found",
            Some(500),
            ErrorClass::SessionExpired,
        ),
    ] {
        assert_eq!(classify(message, status), want, "{message} {status:?}");
    }
}

#[test]
fn parts_of_a_sign_in_another_order_are_no_sign() {
    assert_eq!(
        classify("denied without permission", None),
        ErrorClass::Permanent
    );
    assert_eq!(classify("space is out", None), ErrorClass::Permanent);
}

#[test]
fn errors_name_what_is_behind_them() {
    for (message, status, want) in [
        (
            "Not logged in · Please run /login",
            None,
            ErrorCause::Credentials,
        ),
        ("anything", Some(401), ErrorCause::Credentials),
        ("API Error: 403 no access", None, ErrorCause::Credentials),
        ("OAuth token has expired", None, ErrorCause::Credentials),
        ("Credit balance is too low", Some(400), ErrorCause::Credit),
        ("Connection error.", None, ErrorCause::Network),
        (
            "getaddrinfo ENOTFOUND api.example.com",
            None,
            ErrorCause::Network,
        ),
        (
            "connect ECONNREFUSED 127.0.0.1:9",
            None,
            ErrorCause::Network,
        ),
        ("anything", Some(529), ErrorCause::Overload),
        ("Rate limit exceeded", None, ErrorCause::Overload),
        ("Prompt is too long", Some(400), ErrorCause::Other),
        ("it broke", None, ErrorCause::Other),
    ] {
        assert_eq!(cause(message, status), want, "{message} {status:?}");
        if matches!(want, ErrorCause::Network | ErrorCause::Overload) {
            assert_eq!(
                classify(message, status),
                ErrorClass::Transient,
                "{message}"
            );
        }
    }
}
