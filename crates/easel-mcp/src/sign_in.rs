//! Signing in to servers that want to know who asks: OAuth 2.1, as the protocol has it.
//!
//! A person signs in once, in a browser ([`SignIn`]). What comes of it is kept ([`Credentials`]), sent with every request,
//! and renewed when it is about to end.

use std::sync::Arc;

use async_trait::async_trait;
use easel_tools::ToolError;
use easel_tools::mcp::McpServer;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, CredentialRefreshGuard, CredentialStore,
    OAuthState, StoredCredentials,
};

use crate::trouble;

/// Where what comes of signing in is kept, as a text for each server.
pub trait Credentials: Send + Sync {
    /// What is kept for a server.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn load(&self, server: &str) -> Result<Option<String>, String>;

    /// Keeps something for a server.
    ///
    /// # Errors
    /// Why it cannot be kept.
    fn save(&self, server: &str, text: &str) -> Result<(), String>;

    /// Forgets what is kept for a server.
    ///
    /// # Errors
    /// Why that cannot be done.
    fn forget(&self, server: &str) -> Result<(), String>;
}

/// What is kept for one server, in the library's eyes.
#[derive(Clone)]
pub(crate) struct Kept {
    pub server: Arc<str>,
    pub credentials: Arc<dyn Credentials>,
    /// Held while a token is renewed: of two who would, one does.
    pub renewing: Arc<tokio::sync::Mutex<()>>,
}

impl Kept {
    /// The token that goes with requests, if there is one.
    pub fn token(&self) -> Option<String> {
        let text = self.credentials.load(&self.server).ok()??;
        let kept: serde_json::Value = serde_json::from_str(&text).ok()?;
        let token = kept.get("token_response")?.get("access_token")?.as_str()?;
        Some(token.to_owned())
    }
}

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let text = self.credentials.load(&self.server);
        let Some(text) = text.map_err(AuthError::CredentialStoreError)? else {
            return Ok(None);
        };
        let kept = serde_json::from_str(&text);
        kept.map(Some)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }

    async fn save(&self, kept: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_string(&kept)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        let saved = self.credentials.save(&self.server, &text);
        saved.map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let forgotten = self.credentials.forget(&self.server);
        forgotten.map_err(AuthError::CredentialStoreError)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let guard = self.renewing.clone().lock_owned().await;
        Ok(Some(CredentialRefreshGuard::new(guard)))
    }
}

/// Who signs requests to a server.
///
/// Errors: what is kept cannot be read, or the server does not say any more where its tokens come from.
pub(crate) async fn signer(
    server: &McpServer,
    url: &str,
    kept: Kept,
) -> Result<AuthorizationManager, ToolError> {
    let signer = async {
        let mut manager = AuthorizationManager::new_allowing_private_addresses(url).await?;
        manager.set_credential_store(kept);
        manager.initialize_from_store().await?;
        Ok(manager)
    };
    signer.await.map_err(|error| not_signed_in(server, &error))
}

/// A sign-in under way: a person is to open an address in a browser.
pub struct SignIn {
    server: Arc<McpServer>,
    state: OAuthState,
    address: String,
}

impl SignIn {
    /// Begins one. `challenge` is what the server said when nobody had signed in; the browser is sent to `redirect` with
    /// what comes of it.
    pub(crate) async fn begin(
        server: Arc<McpServer>,
        url: &str,
        kept: Kept,
        challenge: Option<String>,
        redirect: &str,
    ) -> Result<SignIn, ToolError> {
        let begun = async {
            let mut manager = AuthorizationManager::new_allowing_private_addresses(url).await?;
            manager.set_credential_store(kept);
            let mut request = AuthorizationRequest::new(redirect)
                .with_client_name("Easel")
                .with_initial_scope_selection();
            if let Some(challenge) = challenge {
                request = request.with_challenge(challenge);
            }
            let mut state = OAuthState::Unauthorized(manager);
            state.start_authorization(request).await?;
            let address = state.get_authorization_url().await?;
            Ok((state, address))
        };
        let (state, address) = begun
            .await
            .map_err(|error| not_signed_in(&server, &error))?;
        Ok(SignIn {
            server,
            state,
            address,
        })
    }

    /// The address that the person is to open.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it with the address that the browser was sent to. What comes of it is kept.
    ///
    /// # Errors
    /// It was not this sign-in that the browser came back from, or the server gives no token for it.
    pub async fn finish(mut self, came_back_to: &str) -> Result<(), ToolError> {
        let finished = self.state.handle_callback_url(came_back_to).await;
        finished.map_err(|error| not_signed_in(&self.server, &error))
    }
}

fn not_signed_in(server: &McpServer, error: &AuthError) -> ToolError {
    ToolError::Failed {
        what: format!("signing in to {}", trouble::called(server)),
        message: error.to_string(),
    }
}
