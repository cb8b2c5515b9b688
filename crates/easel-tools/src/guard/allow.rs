//! What a deployment lets its workflows reach beyond the public internet.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::special::unwrap_v4;

/// The hosts and networks that a deployment opens for its workflows. Empty: the public internet only.
///
/// An entry is a host (`searx.internal`), all hosts below one (`*.corp.example`), an address (`127.0.0.1`, `::1`) or a
/// network (`10.1.0.0/16`). All but networks may carry a port (`127.0.0.1:8080`, `[::1]:80`) and are then open at that port only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Allow {
    entries: Vec<Entry>,
}

/// An entry that cannot be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "\"{0}\" is no host, *.host, address or network; write e.g. searx.internal, 127.0.0.1:8080 or 10.1.0.0/16"
)]
pub struct AllowError(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    text: String,
    target: Target,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Name(String),
    Below(String),
    Network(IpNet),
}

impl Allow {
    /// Reads a list of entries.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Allow, AllowError> {
        let entries = entries
            .into_iter()
            .map(Entry::from_str)
            .collect::<Result<_, _>>()?;
        Ok(Allow { entries })
    }

    /// True if that host name is open at that port, wherever it leads. `name` in lower case.
    pub fn name(&self, name: &str, port: u16) -> bool {
        self.entries
            .iter()
            .filter(|e| e.at(port))
            .any(|e| match &e.target {
                Target::Name(n) => n == name,
                Target::Below(parent) => name
                    .strip_suffix(parent.as_str())
                    .is_some_and(|rest| rest.ends_with('.')),
                Target::Network(_) => false,
            })
    }

    /// True if that address is open at that port.
    pub fn address(&self, address: IpAddr, port: u16) -> bool {
        let address = unwrap_v4(address);
        self.entries
            .iter()
            .filter(|e| e.at(port))
            .any(|e| match &e.target {
                Target::Network(net) => net.contains(&address),
                Target::Name(_) | Target::Below(_) => false,
            })
    }
}

impl Entry {
    fn at(&self, port: u16) -> bool {
        self.port.is_none_or(|p| p == port)
    }
}

impl FromStr for Entry {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<Entry, AllowError> {
        let text = text.trim();
        let (target, port) = read(text).ok_or_else(|| AllowError(text.to_owned()))?;
        Ok(Entry {
            text: text.to_owned(),
            target,
            port,
        })
    }
}

fn read(text: &str) -> Option<(Target, Option<u16>)> {
    if let Ok(net) = text.parse::<IpNet>() {
        return Some((Target::Network(net.trunc()), None));
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Some((Target::Network(unwrap_v4(ip).into()), None));
    }
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return Some((
            Target::Network(unwrap_v4(socket.ip()).into()),
            Some(socket.port()),
        ));
    }
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port.parse().ok()?)),
        None => (text, None),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let target = match name.strip_prefix("*.") {
        Some(parent) => Target::Below(host_name(parent)?),
        None => Target::Name(host_name(&name)?),
    };
    Some((target, port))
}

fn host_name(text: &str) -> Option<String> {
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) if !name.contains('*') => Some(name),
        _ => None,
    }
}

impl TryFrom<Vec<String>> for Allow {
    type Error = AllowError;

    fn try_from(entries: Vec<String>) -> Result<Allow, AllowError> {
        Allow::parse(entries.iter().map(String::as_str))
    }
}

impl From<Allow> for Vec<String> {
    fn from(allow: Allow) -> Vec<String> {
        allow.entries.into_iter().map(|e| e.text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_in_every_form_and_written_back() {
        let text = [
            "searx.internal",
            "*.corp.example:443",
            "127.0.0.1:8080",
            "[::1]:80",
            "10.1.2.3/16",
            "fd00::/8",
        ];
        let allow = Allow::parse(text).unwrap();
        assert!(allow.name("searx.internal", 1));
        assert!(allow.name("a.b.corp.example", 443));
        assert!(!allow.name("a.corp.example", 80));
        assert!(!allow.name("corp.example", 443));
        assert!(!allow.name("evilcorp.example", 443));
        assert!(allow.address("127.0.0.1".parse().unwrap(), 8080));
        assert!(allow.address("::ffff:127.0.0.1".parse().unwrap(), 8080));
        assert!(!allow.address("127.0.0.1".parse().unwrap(), 80));
        assert!(allow.address("10.1.9.9".parse().unwrap(), 5432));
        assert!(allow.address("fd12::1".parse().unwrap(), 5432));
        assert_eq!(
            serde_json::to_value(&allow).unwrap(),
            serde_json::json!(text)
        );
    }

    #[test]
    fn an_entry_that_means_nothing_is_named() {
        for bad in [
            "",
            "http://a.example",
            "a.example:http",
            "*",
            "a b",
            "10.0.0.0/99",
        ] {
            assert_eq!(
                Allow::parse([bad]),
                Err(AllowError(bad.to_owned())),
                "{bad:?}"
            );
        }
    }
}
