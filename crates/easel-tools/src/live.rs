//! The capabilities that go out into the network, all through [`crate::guard`].

use std::sync::Arc;

use crate::error::ToolError;
use crate::world::World;

mod body;
mod exchange;
mod resolve;
mod sandbox;
mod search;

pub use exchange::{HttpConfig, LiveHttp, failure_of};
pub use resolve::resolve_host;
pub use sandbox::RemoteSandbox;
pub use search::{Declaration, DeclarationError, LiveSearch, SearchConfig};

/// A world with HTTP and web search. Its other capabilities are those of [`World::none`].
///
/// Needs a tokio runtime with I/O and time around each call.
pub fn world(http: HttpConfig, search: SearchConfig) -> Result<World, ToolError> {
    let sender = Arc::new(LiveHttp::new(http)?);
    Ok(World {
        search: Arc::new(LiveSearch::new(sender.clone(), search)),
        http: sender,
        ..World::none()
    })
}
