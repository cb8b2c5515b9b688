//! Names to addresses that may be dialled.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::error::ToolError;
use crate::guard::{Allow, Cleared, GuardError, check_address, check_host};

/// The addresses of a host that a workflow names, for protocols other than HTTP. Dial one of these and not the name:
/// the name may lead elsewhere a moment later.
///
/// Errors: [`ToolError::Blocked`] if none may be dialled, [`ToolError::Unresolved`] if there is none.
pub async fn resolve_host(
    host: &str,
    port: u16,
    allow: &Allow,
) -> Result<Vec<SocketAddr>, ToolError> {
    match check_host(host, port, allow)? {
        Cleared::Address(address) => Ok(vec![SocketAddr::new(address, port)]),
        Cleared::AllowedName(name) => look_up(&name, port).await,
        Cleared::Name(name) => {
            let found = look_up(&name, port).await?;
            Ok(dialable(&name, found, allow)?)
        }
    }
}

/// The resolver of the HTTP client. What it returns is what the client dials, so nothing can change in between.
///
/// The client does not ask it for literal addresses, and does not tell it the port; URLs are checked before.
pub(super) struct GuardedResolver(pub(super) Arc<Allow>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow = Arc::clone(&self.0);
        Box::pin(async move {
            let found = look_up(name.as_str(), 0).await?;
            let dialable = dialable(name.as_str(), found, &allow)?;
            Ok(Box::new(dialable.into_iter()) as Addrs)
        })
    }
}

async fn look_up(name: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
    let unresolved = |cause: String| ToolError::Unresolved {
        host: name.to_owned(),
        cause,
    };
    let found = tokio::net::lookup_host((name, port)).await;
    let found: Vec<_> = found
        .map_err(|e: io::Error| unresolved(e.to_string()))?
        .collect();
    if found.is_empty() {
        return Err(unresolved("it has no address".to_owned()));
    }
    Ok(found)
}

/// Those of the addresses that may be dialled; if there is none, why the first may not.
fn dialable(
    name: &str,
    found: Vec<SocketAddr>,
    allow: &Allow,
) -> Result<Vec<SocketAddr>, GuardError> {
    let (mut kept, mut refusal) = (Vec::new(), None);
    for socket in found {
        match check_address(name, socket.ip(), socket.port(), allow) {
            Ok(_) => kept.push(socket),
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    match refusal {
        Some(why) if kept.is_empty() => Err(why),
        _ => Ok(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sockets(addresses: &[&str]) -> Vec<SocketAddr> {
        addresses
            .iter()
            .map(|a| SocketAddr::new(a.parse().unwrap(), 0))
            .collect()
    }

    #[test]
    fn a_name_is_dialled_at_its_public_addresses_only() {
        let none = Allow::default();
        let mixed = sockets(&["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"]);
        assert_eq!(
            dialable("a.example", mixed, &none),
            Ok(sockets(&["8.8.8.8", "2606:4700::1111"]))
        );
        let private = sockets(&["10.0.0.1", "169.254.169.254"]);
        assert_eq!(
            dialable("a.example", private.clone(), &none),
            Err(GuardError::NotPublic {
                host: "a.example".into(),
                address: "10.0.0.1".parse().unwrap(),
            })
        );
        let allow = Allow::parse(["10.0.0.0/8"]).unwrap();
        assert_eq!(
            dialable("a.example", private, &allow),
            Ok(sockets(&["10.0.0.1"]))
        );
    }

    #[tokio::test]
    async fn a_database_host_is_resolved_to_what_may_be_dialled() {
        let refused = resolve_host("localhost", 5432, &Allow::default()).await;
        assert!(matches!(refused, Err(ToolError::Blocked(_))), "{refused:?}");
        let allow = Allow::parse(["127.0.0.1:5432"]).unwrap();
        let found = resolve_host("127.0.0.1", 5432, &allow).await;
        assert_eq!(found, Ok(vec!["127.0.0.1:5432".parse().unwrap()]));
        assert!(resolve_host("127.0.0.1", 5433, &allow).await.is_err());
    }

    #[tokio::test]
    async fn the_clients_own_resolver_refuses_names_of_this_machine() {
        let resolver = GuardedResolver(Arc::new(Allow::default()));
        let refused = resolver
            .resolve("localhost".parse().unwrap())
            .await
            .err()
            .unwrap();
        assert!(refused.downcast_ref::<GuardError>().is_some(), "{refused}");
    }
}
