//! API keys. What opens the door is shown once and never stored: only its hash is.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::error::StoreError;
use crate::sql::{Row, Statement};
use crate::store::{Store, new_id, now};
use crate::values::{hash, parse, to_json};

/// What every key begins with, so that it is known for one wherever it turns up.
const PREFIX: &str = "easel_";
/// How many characters of a key people see again.
const SHOWN: usize = 12;
/// How often it is written down that a key was used, in milliseconds.
const USED_EVERY: i64 = 60_000;

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: Arc<str>,
    /// How it begins.
    pub prefix: Arc<str>,
    /// On whose behalf it acts.
    pub owner: Arc<str>,
    /// What people call it.
    pub name: Arc<str>,
    /// What it may be used for.
    pub scopes: Vec<Arc<str>>,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it was used last, to the minute.
    pub used: Option<i64>,
    /// From when on it is of no use any more.
    pub expires: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

impl KeyRecord {
    /// Whether it opens anything at that time.
    pub fn is_valid_at(&self, time: i64) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| time < expires)
    }
}

/// A key that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewKey {
    /// On whose behalf it acts.
    pub owner: String,
    /// What people call it.
    pub name: String,
    /// What it may be used for.
    pub scopes: Vec<Arc<str>>,
    /// From when on it is of no use any more, in milliseconds since 1970.
    pub expires: Option<i64>,
}

/// The text of a key. It cannot be had again.
pub struct KeySecret(String);

impl KeySecret {
    /// The text, for the one who asked for it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(…)")
    }
}

const COLUMNS: &str = "id, prefix, owner, name, scopes, created, used, expires, revoked";

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    Ok(KeyRecord {
        id: row.shared("id")?,
        prefix: row.shared("prefix")?,
        owner: row.shared("owner")?,
        name: row.shared("name")?,
        scopes: parse(&row.text("scopes")?, "the scopes of a key")?,
        created: row.int("created")?,
        used: row.optional_int("used")?,
        expires: row.optional_int("expires")?,
        revoked: row.optional_int("revoked")?,
    })
}

impl Store {
    /// Makes a key.
    ///
    /// # Errors
    /// [`StoreError::Random`]; [`StoreError`] if it cannot be written.
    pub async fn create_key(&self, new: NewKey) -> Result<(KeyRecord, KeySecret), StoreError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::Random(error.to_string()))?;
        let secret = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        let record = KeyRecord {
            id: new_id().into(),
            prefix: secret.chars().take(SHOWN).collect::<String>().into(),
            owner: new.owner.into(),
            name: new.name.into(),
            scopes: new.scopes,
            created: now(),
            used: None,
            expires: new.expires,
            revoked: None,
        };
        let insert = Statement::new(
            "INSERT INTO keys (id, hash, prefix, owner, name, scopes, created, expires) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .with(&record.id)
        .with(hash(secret.as_bytes()))
        .with(&record.prefix)
        .with(&record.owner)
        .with(&record.name)
        .with(to_json(&record.scopes))
        .with(record.created)
        .with(record.expires);
        self.write(move |connection| {
            let insert = insert.clone();
            Box::pin(async move { connection.execute(insert).await.map(drop) })
        })
        .await?;
        Ok((record, KeySecret(secret)))
    }

    /// The key with that text, if there is one that was not revoked and is not over. That it was used is written down soon.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn key_by_secret(&self, secret: &str) -> Result<Option<KeyRecord>, StoreError> {
        if !secret.starts_with(PREFIX) {
            return Ok(None);
        }
        // Found by its hash, so how long it takes says nothing about how alike two keys are.
        let mut select = Statement::new("");
        select
            .push(&format!("SELECT {COLUMNS} FROM keys WHERE hash = "))
            .value(hash(secret.as_bytes()));
        let Some(row) = self.row(select).await? else {
            return Ok(None);
        };
        let key = record(&row)?;
        let at = now();
        if !key.is_valid_at(at) {
            return Ok(None);
        }
        if key.used.is_none_or(|used| at - used >= USED_EVERY) {
            let update = "UPDATE keys SET used = $1 WHERE id = $2";
            let update = Statement::new(update).with(at).with(&key.id);
            let store = self.clone();
            // Nobody waits for it, and if it is lost the next use writes it.
            tokio::spawn(async move {
                let written = store.write(move |connection| {
                    let update = update.clone();
                    Box::pin(async move { connection.execute(update).await.map(drop) })
                });
                let _ = written.await;
            });
        }
        Ok(Some(key))
    }

    /// All keys, or those of an owner, the newest last; revoked ones too.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn keys(&self, owner: Option<&str>) -> Result<Vec<KeyRecord>, StoreError> {
        let mut select = Statement::new("");
        select.push(&format!("SELECT {COLUMNS} FROM keys"));
        if let Some(owner) = owner {
            select.push(" WHERE owner = ").value(owner);
        }
        select.push(" ORDER BY created, id");
        self.rows(select).await?.iter().map(record).collect()
    }

    /// Revokes a key by its id; false if there is none, or it was revoked before.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn revoke_key(&self, id: &str) -> Result<bool, StoreError> {
        let update = "UPDATE keys SET revoked = $1 WHERE id = $2 AND revoked IS NULL";
        let update = Statement::new(update).with(now()).with(id);
        self.write(move |connection| {
            let update = update.clone();
            Box::pin(async move { Ok(connection.execute(update).await? > 0) })
        })
        .await
    }
}
