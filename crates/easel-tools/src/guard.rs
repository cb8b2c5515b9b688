//! Which addresses a workflow may reach: the public internet, and what the deployment allows beyond it.
//!
//! Anyone who can write a workflow names hosts in it, and a name can be pointed at any address. So every host that a
//! workflow names goes through here, whatever the protocol (`spec/canvas-components §1.8`, D6): a URL with
//! [`check_url`], a database or mail host with [`check_host`], and each address that a name resolves to with
//! [`check_address`] right before it is dialled. Checking a name and dialling it later would leave a gap in which
//! the name can change.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

mod allow;
mod special;

pub use allow::{Allow, AllowError};
pub use special::is_global;

/// Why an address was refused.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum GuardError {
    /// The text is no URL.
    #[error("the URL is not valid: {0}")]
    NotAUrl(String),
    /// Only `http` and `https` are spoken.
    #[error("the URL scheme \"{0}\" is not allowed: use http or https")]
    Scheme(String),
    /// The URL or field names no host.
    #[error("no host is given")]
    NoHost,
    /// A name that always means the machine itself.
    #[error(
        "{0} is the machine itself; to allow it, name it under `allow` in the section [http] of easel.toml"
    )]
    ThisMachine(String),
    /// The address, or one that the name stands for, isn't on the public internet.
    #[error(
        "{host} leads to {address}, which is not a public address; to allow it, name the host under `allow` in the section [http] of easel.toml"
    )]
    NotPublic {
        /// The host as it was written.
        host: String,
        /// The address behind it.
        address: IpAddr,
    },
}

/// A host that passed the check so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// A literal address that may be dialled.
    Address(IpAddr),
    /// A name. Each address it resolves to is still to be checked.
    Name(String),
    /// A name the deployment allows, wherever it leads.
    AllowedName(String),
}

/// Parses `url` and checks what can be checked without resolving its host.
///
/// The parser is the one browsers use, so `http://0x7f.1/`, `http://2130706433/` and `http://[::ffff:127.0.0.1]/`
/// are all seen as the address they mean.
pub fn check_url(url: &str, allow: &Allow) -> Result<(Url, Cleared), GuardError> {
    let url = Url::parse(url).map_err(|e| match e {
        url::ParseError::EmptyHost => GuardError::NoHost,
        other => GuardError::NotAUrl(other.to_string()),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(GuardError::Scheme(url.scheme().to_owned()));
    }
    let port = url.port_or_known_default().unwrap_or(0);
    let cleared = match url.host() {
        None => return Err(GuardError::NoHost),
        Some(Host::Ipv4(ip)) => check_address(&ip.to_string(), IpAddr::V4(ip), port, allow)?,
        Some(Host::Ipv6(ip)) => check_address(&ip.to_string(), IpAddr::V6(ip), port, allow)?,
        Some(Host::Domain(name)) => check_name(name, port, allow)?,
    };
    Ok((url, cleared))
}

/// Checks a host that is given by itself, such as a database's, as far as that goes without resolving it.
pub fn check_host(host: &str, port: u16, allow: &Allow) -> Result<Cleared, GuardError> {
    let host = host.trim();
    if host.is_empty() {
        return Err(GuardError::NoHost);
    }
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(host).parse::<Ipv6Addr>() {
        return check_address(host, IpAddr::V6(ip), port, allow);
    }
    // Through the URL rules, as `0x7f.1` is an address for many resolvers too.
    match Host::parse(host) {
        Ok(Host::Ipv4(ip)) => check_address(host, IpAddr::V4(ip), port, allow),
        Ok(Host::Ipv6(ip)) => check_address(host, IpAddr::V6(ip), port, allow),
        Ok(Host::Domain(name)) => check_name(&name, port, allow),
        Err(e) => Err(GuardError::NotAUrl(e.to_string())),
    }
}

/// Checks an address that is about to be dialled; `host` is what the workflow wrote.
pub fn check_address(
    host: &str,
    address: IpAddr,
    port: u16,
    allow: &Allow,
) -> Result<Cleared, GuardError> {
    if is_global(address) || allow.address(address, port) {
        Ok(Cleared::Address(address))
    } else {
        Err(GuardError::NotPublic {
            host: host.to_owned(),
            address,
        })
    }
}

fn check_name(name: &str, port: u16, allow: &Allow) -> Result<Cleared, GuardError> {
    let plain = name.trim_end_matches('.').to_ascii_lowercase();
    if plain.is_empty() {
        return Err(GuardError::NoHost);
    }
    if allow.name(&plain, port) {
        return Ok(Cleared::AllowedName(plain));
    }
    if plain == "localhost" || plain.ends_with(".localhost") {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        return if allow.address(here, port) {
            Ok(Cleared::AllowedName(plain))
        } else {
            Err(GuardError::ThisMachine(plain))
        };
    }
    Ok(Cleared::Name(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> GuardError {
        check_url(url, &Allow::default()).unwrap_err()
    }

    #[test]
    fn a_public_url_passes() {
        let (url, cleared) = check_url("https://API.Example.com/x?q=1", &Allow::default()).unwrap();
        assert_eq!(url.as_str(), "https://api.example.com/x?q=1");
        assert_eq!(cleared, Cleared::Name("api.example.com".into()));
        let (_, cleared) = check_url("http://93.184.216.34/", &Allow::default()).unwrap();
        assert_eq!(cleared, Cleared::Address("93.184.216.34".parse().unwrap()));
    }

    #[test]
    fn other_schemes_and_missing_hosts_are_refused() {
        assert_eq!(
            refused("file:///etc/passwd"),
            GuardError::Scheme("file".into())
        );
        assert_eq!(
            refused("gopher://a.example/"),
            GuardError::Scheme("gopher".into())
        );
        assert_eq!(refused("http://"), GuardError::NoHost);
        assert!(matches!(refused("not a url"), GuardError::NotAUrl(_)));
    }

    #[test]
    fn every_spelling_of_loopback_is_refused() {
        for url in [
            "http://127.0.0.1:80/",
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://0/",
            "http://１２７.0.0.1/",
            "http://user:secret@127.0.0.1/",
        ] {
            assert!(
                matches!(refused(url), GuardError::NotPublic { .. }),
                "{url} was not refused as an address"
            );
        }
        for url in [
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost:9/",
        ] {
            assert!(matches!(refused(url), GuardError::ThisMachine(_)), "{url}");
        }
    }

    #[test]
    fn a_bare_host_follows_the_same_rules() {
        let none = Allow::default();
        assert_eq!(
            check_host("db.example.com", 5432, &none),
            Ok(Cleared::Name("db.example.com".into()))
        );
        assert_eq!(check_host("  ", 5432, &none), Err(GuardError::NoHost));
        for host in ["10.0.0.5", "0x0a.5", "::1", "[::1]", "fe80::1"] {
            assert!(check_host(host, 5432, &none).is_err(), "{host}");
        }
    }

    #[test]
    fn a_deployment_can_allow_a_private_host_and_port() {
        let allow = Allow::parse(["127.0.0.1:8080", "searx.internal", "10.1.0.0/16"]).unwrap();
        assert!(check_url("http://127.0.0.1:8080/", &allow).is_ok());
        assert!(check_url("http://localhost:8080/", &allow).is_ok());
        assert!(check_url("http://127.0.0.1:8081/", &allow).is_err());
        assert_eq!(
            check_url("http://searx.internal:9/", &allow).unwrap().1,
            Cleared::AllowedName("searx.internal".into())
        );
        assert!(check_host("10.1.200.3", 5432, &allow).is_ok());
        assert!(check_host("10.2.0.1", 5432, &allow).is_err());
    }
}
