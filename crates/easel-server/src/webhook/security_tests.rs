use std::collections::HashMap;

use axum::http::HeaderValue;
use easel_runtime::secrets::{Resolver, Secret};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn read(security: Json) -> Result<Security, Refusal> {
    Security::read("begin", Some(&Value::from(security)))
}

/// The security of `security`, open for anonymous callers.
fn open(mut security: Json) -> Result<Security, Refusal> {
    security["allow_anonymous"] = json!(true);
    read(security)
}

fn told<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
    result.unwrap_err().to_string()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        let value = HeaderValue::from_str(value).unwrap();
        (HeaderName::from_static(name), value)
    });
    pairs.collect()
}

fn admit(
    security: &Security,
    peer: &str,
    headers: &HeaderMap,
) -> Result<Option<HeaderName>, Refusal> {
    let secrets = HashMap::from([("HOOK".to_owned(), Secret::new("s3cr3t-value"))]);
    let keyring = Keyring::new("begin", &Resolver::from(secrets));
    let caller = Caller {
        peer: peer.parse().unwrap(),
        headers,
    };
    security.admit("a", caller, &Buckets::default(), Instant::now())?;
    security.prove(headers, &keyring)
}

#[test]
fn without_security_nobody_may_call() {
    let required = "Webhook security is required. Set allow_anonymous to true to permit unauthenticated webhooks.";
    for missing in [
        None,
        Some(json!({})),
        Some(json!(null)),
        Some(json!("none")),
    ] {
        let missing = missing.map(Value::from);
        assert_eq!(told(Security::read("begin", missing.as_ref())), required);
    }
}

#[test]
fn anonymous_callers_have_to_be_wanted() {
    let refused = "Anonymous webhook access requires allow_anonymous to be true";
    for off in [json!(false), json!("no"), json!(0), json!(null), json!("")] {
        let security = json!({"auth_type": "none", "allow_anonymous": off});
        assert_eq!(told(read(security)), refused);
    }
    assert_eq!(told(read(json!({"ip_whitelist": []}))), refused);
    for on in [json!(true), json!("yes"), json!("On"), json!("1"), json!(2)] {
        assert!(read(json!({"auth_type": "none", "allow_anonymous": on})).is_ok());
    }
    assert_eq!(
        told(read(json!({"auth_type": "magic", "allow_anonymous": true}))),
        "Unsupported auth_type: magic"
    );
}

#[test]
fn a_body_may_be_as_large_as_the_canvas_says_and_ten_megabytes_at_most() {
    let limit = |size: Json| open(json!({"max_body_size": size})).map(|s| s.body_limit);
    assert_eq!(limit(json!("1kb")), Ok(1024));
    assert_eq!(limit(json!(" 2 MB ")), Ok(2 * 1024 * 1024));
    assert_eq!(limit(json!(null)), Ok(LARGEST_BODY));
    assert_eq!(limit(json!("10MB")), Ok(LARGEST_BODY));
    for large in ["11mb", "10241kb", "18446744073709551615mb"] {
        assert_eq!(
            told(limit(json!(large))),
            "max_body_size exceeds maximum allowed size (10MB)"
        );
    }
    for wrong in [
        json!("10"),
        json!("1.5mb"),
        json!("-1kb"),
        json!("mb"),
        json!(1024),
        json!("1gb"),
    ] {
        assert!(told(limit(wrong)).starts_with("Invalid max_body_size format"));
    }
    let security = open(json!({"max_body_size": "1kb"})).unwrap();
    let told = told(admit(
        &security,
        "127.0.0.1",
        &headers(&[("content-length", "1025")]),
    ));
    assert_eq!(told, "Request body too large: 1025 > 1024");
    assert!(
        admit(
            &security,
            "127.0.0.1",
            &headers(&[("content-length", "1024")])
        )
        .is_ok()
    );
}

#[test]
fn only_addresses_on_the_list_may_call() {
    let list = json!([
        "10.1.2.3/8",
        "192.168.0.7",
        "2001:db8::/32",
        "::ffff:172.16.0.0/108",
        ""
    ]);
    let security = open(json!({"ip_whitelist": list})).unwrap();
    for inside in [
        "10.9.9.9",
        "::ffff:10.9.9.9",
        "192.168.0.7",
        "2001:db8::1",
        "172.17.0.1",
    ] {
        assert!(admit(&security, inside, &headers(&[])).is_ok(), "{inside}");
    }
    for outside in [
        "11.0.0.1",
        "192.168.0.8",
        "2001:db9::1",
        "::ffff:11.0.0.1",
        "172.32.0.1",
    ] {
        assert!(
            admit(&security, outside, &headers(&[])).is_err(),
            "{outside}"
        );
    }
    let forged = headers(&[("x-forwarded-for", "10.0.0.1")]);
    assert_eq!(
        told(admit(&security, "11.0.0.1", &forged)),
        "IP 11.0.0.1 is not allowed by whitelist"
    );
    for wrong in [json!(["10.0.0.0/33"]), json!(["home"]), json!({"a": 1})] {
        assert!(told(open(json!({"ip_whitelist": wrong}))).starts_with("Invalid ip_whitelist"));
    }
}

#[test]
fn a_rate_has_a_limit_and_a_window() {
    let rate = |rate: Json| open(json!({"rate_limit": rate})).map(|s| s.rate);
    let of = |limit, seconds| Rate {
        limit,
        per: Duration::from_secs(seconds),
    };
    assert_eq!(rate(json!(null)), Ok(of(60, 60)));
    assert_eq!(rate(json!({"limit": 5})), Ok(of(5, 60)));
    assert_eq!(rate(json!({"limit": "7", "per": "Hour"})), Ok(of(7, 3_600)));
    for none in [json!(0), json!(-1), json!("x"), json!(0.5)] {
        assert_eq!(
            told(rate(json!({"limit": none}))),
            "rate_limit.limit must be > 0"
        );
    }
    assert_eq!(
        told(rate(json!({"per": "week"}))),
        "Invalid rate_limit.per: week"
    );
}

#[test]
fn the_sixty_first_call_within_a_minute_is_one_too_many() {
    let security = open(json!({})).unwrap();
    let buckets = Buckets::default();
    let (start, headers) = (Instant::now(), HeaderMap::new());
    let call = |agent: &str, now| {
        let caller = Caller {
            peer: IpAddr::from([127, 0, 0, 1]),
            headers: &headers,
        };
        security.admit(agent, caller, &buckets, now)
    };
    for _ in 0..60 {
        assert!(call("a", start).is_ok());
    }
    let refused = call("a", start).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Rate limit error: Too many requests (rate limit exceeded)"
    );
    assert_eq!(refused.retry_after(), Some(2));
    assert!(call("b", start).is_ok());
    assert!(call("a", start + Duration::from_secs(2)).is_ok());
}

#[test]
fn a_token_has_to_be_in_its_header() {
    let token = |header: &str, value: &str| {
        let token = json!({"token_header": header, "token_value": value});
        read(json!({"auth_type": "token", "token": token})).unwrap()
    };
    let security = token("X-Token", "${HOOK}");
    let right = headers(&[("x-token", "s3cr3t-value")]);
    let proof = admit(&security, "127.0.0.1", &right).unwrap();
    assert_eq!(proof.unwrap(), "x-token");
    let invalid = "Invalid token authentication";
    for wrong in [
        headers(&[]),
        headers(&[("x-token", "s3cr3t-valu")]),
        headers(&[("x-token", "${HOOK}")]),
        headers(&[("x-token", "")]),
        headers(&[("authorization", "s3cr3t-value")]),
    ] {
        assert_eq!(told(admit(&security, "127.0.0.1", &wrong)), invalid);
    }
    // Neither a header nor a value is set: that is no way in.
    for unset in [token("", ""), token("X-Token", ""), token("", "x")] {
        for brought in [headers(&[]), headers(&[("x-token", "")])] {
            assert_eq!(told(admit(&unset, "127.0.0.1", &brought)), invalid);
        }
    }
    let nothing = read(json!({"auth_type": "token"})).unwrap();
    assert_eq!(told(admit(&nothing, "127.0.0.1", &headers(&[]))), invalid);
}

#[test]
fn basic_wants_the_user_and_the_password() {
    let basic = |user: &str, pass: &str| {
        let basic = json!({"username": user, "password": pass});
        read(json!({"auth_type": "basic", "basic_auth": basic})).unwrap()
    };
    let with = |text: &str| {
        let encoded = format!("basic {}", STANDARD.encode(text));
        headers(&[("authorization", &encoded)])
    };
    let security = basic("ann", "${HOOK}");
    assert!(admit(&security, "127.0.0.1", &with("ann:s3cr3t-value")).is_ok());
    let invalid = "Invalid Basic Auth credentials";
    for wrong in [
        "ann:",
        "bob:s3cr3t-value",
        "ann",
        "",
        ":s3cr3t-value",
        "ann:s3cr3t-value:",
    ] {
        assert_eq!(told(admit(&security, "127.0.0.1", &with(wrong))), invalid);
    }
    assert_eq!(told(admit(&security, "127.0.0.1", &headers(&[]))), invalid);
    assert!(admit(&basic("ann", "a:b"), "127.0.0.1", &with("ann:a:b")).is_ok());
    assert_eq!(
        told(admit(&basic("", ""), "127.0.0.1", &with(":"))),
        invalid
    );
}

proptest! {
    #[test]
    fn only_the_very_token_fits(value in "[ -~]{1,20}", brought in "[ -~]{0,20}") {
        prop_assume!(!value.contains("${") && !value.trim().is_empty());
        let token = json!({"token_header": "X-T", "token_value": value});
        let security = read(json!({"auth_type": "token", "token": token})).unwrap();
        let fits = |text: &str| admit(&security, "127.0.0.1", &headers(&[("x-t", text)])).is_ok();
        prop_assert!(fits(&value));
        prop_assert_eq!(fits(&brought), brought == value);
    }

    #[test]
    fn no_settings_break_the_check(text in "\\PC{0,20}", number in any::<f64>()) {
        for value in [json!(text), json!(number), json!([text]), json!({"limit": number, "per": text})] {
            let security = json!({
                "auth_type": "token", "token": value, "max_body_size": value, "ip_whitelist": value, "rate_limit": value
            });
            if let Ok(security) = read(security) {
                prop_assert!(security.body_limit <= LARGEST_BODY);
                prop_assert!(admit(&security, "::1", &headers(&[])).is_err());
            }
        }
    }

    #[test]
    fn an_address_and_its_mapped_form_are_the_same_caller(address in any::<u32>(), net in any::<u32>(), length in 0u8..=32) {
        let (address, net) = (std::net::Ipv4Addr::from(address), std::net::Ipv4Addr::from(net));
        let plain = open(json!({"ip_whitelist": [format!("{net}/{length}")]})).unwrap();
        let mapped = open(json!({"ip_whitelist": [format!("{}/{}", net.to_ipv6_mapped(), length + 96)]})).unwrap();
        let inside = Ipv4Net::new(net, length).unwrap().contains(&address);
        for security in [&plain, &mapped] {
            for peer in [address.to_string(), address.to_ipv6_mapped().to_string()] {
                prop_assert_eq!(admit(security, &peer, &headers(&[])).is_ok(), inside);
            }
        }
    }
}
