//! Who may call a webhook: size, address, rate and credentials (spec/canvas-engine §7.3).

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_runtime::{Object, Value};
use ipnet::{IpNet, Ipv4Net};

use super::jwt::Jwt;
use super::{Credential, Keyring, Refusal};
use crate::rate::{Buckets, Rate};

/// The most that a webhook can be set to take.
pub const LARGEST_BODY: u64 = 10 * 1024 * 1024;

/// How often a webhook may be called unless it says so.
const USUAL: Rate = Rate {
    limit: 60,
    per: Duration::from_secs(60),
};

/// Who may call.
#[derive(Clone, Debug)]
pub struct Security {
    /// Bytes of the largest body.
    pub body_limit: u64,
    /// The networks that may call; empty lets all.
    pub networks: Vec<IpNet>,
    /// How often it may be called.
    pub rate: Rate,
    /// How callers prove who they are.
    pub auth: Auth,
}

/// How callers prove who they are.
#[derive(Clone, Debug)]
pub enum Auth {
    /// They do not, and that is meant.
    Anonymous,
    /// A header has a value.
    Token {
        /// The header; `None` if none was named, which fits nobody.
        header: Option<HeaderName>,
        /// Its value.
        value: Credential,
    },
    /// HTTP Basic.
    Basic {
        /// The user name.
        username: Credential,
        /// The password.
        password: Credential,
    },
    /// A signed token.
    Jwt(Jwt),
}

/// What is known of a caller before the body is read.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'r> {
    /// The other end of the connection. Headers that name another are not believed.
    pub peer: IpAddr,
    /// The headers.
    pub headers: &'r HeaderMap,
}

impl Security {
    /// What Begin's `security` says. `node` is Begin's id.
    ///
    /// # Errors
    /// It is missing or has a fault.
    pub fn read(node: &str, security: Option<&Value>) -> Result<Security, Refusal> {
        let Some(security) = security
            .and_then(Value::as_object)
            .filter(|s| !s.is_empty())
        else {
            return Err(Refusal::new(
                "Webhook security is required. Set allow_anonymous to true to permit unauthenticated webhooks.",
            ));
        };
        Ok(Security {
            body_limit: body_limit(security.get("max_body_size"))?,
            networks: networks(security.get("ip_whitelist"))?,
            rate: rate(security.get("rate_limit"))?,
            auth: auth(node, security)?,
        })
    }

    /// Whether a caller may come at all, before the body is read: by its size, its address and its rate.
    ///
    /// # Errors
    /// Why it may not.
    pub fn admit(
        &self,
        bucket: &str,
        caller: Caller<'_>,
        buckets: &Buckets,
        now: Instant,
    ) -> Result<(), Refusal> {
        if let Some(length) = content_length(caller.headers)
            && length > self.body_limit
        {
            return Err(too_large(length, self.body_limit));
        }
        let peer = caller.peer.to_canonical();
        if !self.networks.is_empty() && !self.networks.iter().any(|net| net.contains(&peer)) {
            return Err(Refusal::new(format!(
                "IP {peer} is not allowed by whitelist"
            )));
        }
        let taken = buckets.take(bucket, self.rate, now);
        taken.map_err(|wait| Refusal {
            retry_after: Some(wait.as_secs().saturating_add(1)),
            ..Refusal::new("Rate limit error: Too many requests (rate limit exceeded)")
        })
    }

    /// Lets a caller prove who it is. What comes back is the header that proved it: it is the caller's credential and must
    /// not get into the record.
    ///
    /// # Errors
    /// It did not.
    pub fn prove(
        &self,
        headers: &HeaderMap,
        keyring: &Keyring,
    ) -> Result<Option<HeaderName>, Refusal> {
        self.auth.prove(headers, keyring)
    }
}

/// What a body is told that has too many bytes.
pub(super) fn too_large(bytes: u64, limit: u64) -> Refusal {
    Refusal::new(format!("Request body too large: {bytes} > {limit}"))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(axum::http::header::CONTENT_LENGTH)?;
    length.to_str().ok()?.trim().parse().ok()
}

impl Auth {
    fn prove(&self, headers: &HeaderMap, keyring: &Keyring) -> Result<Option<HeaderName>, Refusal> {
        match self {
            Auth::Anonymous => Ok(None),
            Auth::Token { header, value } => {
                let brought = header.as_ref().and_then(|name| headers.get(name));
                let fits = match brought {
                    Some(brought) => keyring.fits(value, brought.as_bytes())?,
                    None => false,
                };
                match fits {
                    true => Ok(header.clone()),
                    false => Err(Refusal::new("Invalid token authentication")),
                }
            }
            Auth::Basic { username, password } => {
                let (user, pass) = basic(headers).unwrap_or_default();
                let user_fits = keyring.fits(username, &user)?;
                let pass_fits = keyring.fits(password, &pass)?;
                match user_fits & pass_fits {
                    true => Ok(Some(AUTHORIZATION)),
                    false => Err(Refusal::new("Invalid Basic Auth credentials")),
                }
            }
            Auth::Jwt(jwt) => {
                let authorization = headers.get(AUTHORIZATION);
                let authorization = authorization.and_then(|value| value.to_str().ok());
                jwt.verify(authorization.unwrap_or_default(), keyring)?;
                Ok(Some(AUTHORIZATION))
            }
        }
    }
}

/// The user name and the password of HTTP Basic.
fn basic(headers: &HeaderMap) -> Option<(Vec<u8>, Vec<u8>)> {
    let authorization = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = authorization.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = STANDARD.decode(encoded.trim()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, pass) = decoded.split_at(colon);
    Some((user.to_vec(), pass.get(1..)?.to_vec()))
}

fn body_limit(size: Option<&Value>) -> Result<u64, Refusal> {
    let invalid = || {
        Refusal::new(
            "Invalid max_body_size format: write a whole number and kb or mb, such as 512kb",
        )
    };
    let text = match size {
        None | Some(Value::Null) => return Ok(LARGEST_BODY),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(LARGEST_BODY),
        Some(Value::String(text)) => text.trim().to_ascii_lowercase(),
        Some(_) => return Err(invalid()),
    };
    let (number, unit) = if let Some(number) = text.strip_suffix("kb") {
        (number, 1024)
    } else {
        (text.strip_suffix("mb").ok_or_else(invalid)?, 1024 * 1024)
    };
    let number: u64 = number.trim().parse().map_err(|_| invalid())?;
    let bytes = number.saturating_mul(unit);
    match bytes > LARGEST_BODY {
        true => Err(Refusal::new(
            "max_body_size exceeds maximum allowed size (10MB)",
        )),
        false => Ok(bytes),
    }
}

fn networks(list: Option<&Value>) -> Result<Vec<IpNet>, Refusal> {
    let entries: &[Value] = match list {
        None | Some(Value::Null) => &[],
        Some(Value::Array(entries)) => entries,
        Some(Value::String(_)) => list.map(std::slice::from_ref).unwrap_or_default(),
        Some(_) => {
            return Err(Refusal::new(
                "Invalid ip_whitelist: it must be a list of addresses and networks",
            ));
        }
    };
    let entries = entries.iter().map(|entry| match entry {
        Value::String(text) => text.trim(),
        _ => "",
    });
    // A blank row of the editor is no entry; a list of nothing but faults must not let everybody in.
    let entries = entries.filter(|entry| !entry.is_empty());
    entries.map(network).collect()
}

/// A network, or an address as a network of one; what stands for a v4 network in v6 is one.
fn network(entry: &str) -> Result<IpNet, Refusal> {
    let net = match entry.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => entry.parse::<IpNet>().map_err(|_| {
            Refusal::new(format!(
                "Invalid ip_whitelist entry: {entry} is no address and no network"
            ))
        })?,
    };
    if let IpNet::V6(v6) = net
        && let Some(v4) = v6.addr().to_ipv4_mapped()
        && let Some(length) = v6.prefix_len().checked_sub(96)
        && let Ok(v4) = Ipv4Net::new(v4, length)
    {
        return Ok(IpNet::V4(v4));
    }
    Ok(net)
}

fn rate(rate: Option<&Value>) -> Result<Rate, Refusal> {
    let limit = match rate.and_then(|rate| rate.get("limit")) {
        None | Some(Value::Null) => USUAL.limit,
        Some(limit) => {
            let number = match limit {
                Value::String(text) => text.trim().parse::<f64>().ok(),
                limit => limit.as_f64(),
            };
            let number = number.filter(|number| *number >= 1.0);
            let number = number.ok_or_else(|| Refusal::new("rate_limit.limit must be > 0"))?;
            number.min(f64::from(u32::MAX)) as u32
        }
    };
    let per = match rate.and_then(|rate| rate.get("per")) {
        None | Some(Value::Null) => USUAL.per,
        Some(per) => {
            let seconds = match per.as_str().map(str::to_ascii_lowercase).as_deref() {
                Some("second") => 1,
                Some("minute") => 60,
                Some("hour") => 3_600,
                Some("day") => 86_400,
                _ => return Err(Refusal::new(format!("Invalid rate_limit.per: {per}"))),
            };
            Duration::from_secs(seconds)
        }
    };
    Ok(Rate { limit, per })
}

fn auth(node: &str, security: &Object) -> Result<Auth, Refusal> {
    let credential = |section: &str, member: &str| {
        let value = security
            .get(section)
            .and_then(|section| section.get(member));
        Credential::read(format!("{node}.security.{section}.{member}"), value)
    };
    let kind = match security.get("auth_type") {
        None | Some(Value::Null) => "none".to_owned(),
        Some(kind) => kind.to_string(),
    };
    match kind.as_str() {
        "none" => match security.get("allow_anonymous").is_some_and(is_on) {
            true => Ok(Auth::Anonymous),
            false => Err(Refusal::new(
                "Anonymous webhook access requires allow_anonymous to be true",
            )),
        },
        "token" => {
            let header = security.get("token").and_then(|t| t.get("token_header"));
            let header = header.and_then(Value::as_str).map(str::trim);
            Ok(Auth::Token {
                header: header.and_then(|header| header.parse().ok()),
                value: credential("token", "token_value"),
            })
        }
        "basic" => Ok(Auth::Basic {
            username: credential("basic_auth", "username"),
            password: credential("basic_auth", "password"),
        }),
        "jwt" => {
            let secret = credential("jwt", "secret");
            Jwt::read(secret, security.get("jwt")).map(Auth::Jwt)
        }
        other => Err(Refusal::new(format!("Unsupported auth_type: {other}"))),
    }
}

/// Whether a switch is on, as people write it.
fn is_on(value: &Value) -> bool {
    match value {
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            matches!(text.as_str(), "1" | "true" | "yes" | "on")
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
#[path = "security_tests.rs"]
mod tests;
