//! `easel keys`: API keys of the server.

use easel_runtime::Timestamp;
use easel_runtime::clock::local_date_time;
use easel_server::auth::Scope;
use easel_store::{KeyRecord, NewKey};
use serde_json::{Value as Json, json};

use crate::cli::{KeysCommand, ListKeys, NewKey as NewKeyArguments, RevokeKey};
use crate::columns::Columns;
use crate::data;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::{Reach, within};
use crate::runs::now;

/// Does what is asked.
pub fn obey(command: &KeysCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            KeysCommand::New(arguments) => new(arguments).await,
            KeysCommand::List(arguments) => list(arguments).await,
            KeysCommand::Revoke(arguments) => revoke(arguments).await,
        }
    })
}

async fn new(arguments: &NewKeyArguments) -> Result<Exit, Problem> {
    for (what, value) in [("name", &arguments.name), ("owner", &arguments.owner)] {
        if value.trim().is_empty() {
            return Err(Problem::usage(format!("The {what} is blank."))
                .fix("Give it a word by which you know it again."));
        }
    }
    let reach = Reach::open(&arguments.data).await?;
    let first = reach
        .store()
        .keys(None)
        .await
        .map_err(data::problem)?
        .is_empty();
    let scopes = match arguments.scopes.as_slice() {
        [] => vec![Scope::Read, Scope::Run, Scope::Write],
        scopes => scopes.to_vec(),
    };
    let made = reach.store().create_key(NewKey {
        owner: arguments.owner.clone(),
        name: arguments.name.clone(),
        scopes: scopes.iter().map(|scope| scope.name().into()).collect(),
        expires: arguments.expires.map(|age| now() + age.milliseconds),
    });
    let (record, secret) = made.await.map_err(data::problem)?;
    reach.close().await;
    if arguments.json {
        let mut key = item(&record);
        key["key"] = secret.reveal().into();
        out::line(&format!("{key:#}"));
        return Ok(Exit::Done);
    }
    // The key alone on standard output, so that a script can keep it.
    out::line(secret.reveal());
    let expires = record
        .expires
        .map(|time| format!(", until {}", local_date_time(Timestamp(time))));
    out::tell(&format!(
        "The key of {:?} for {} ({}){}. It is not shown again.",
        record.name,
        record.owner,
        record.scopes.join(", "),
        expires.unwrap_or_default()
    ));
    if first {
        out::tell("It is the first key: from now on every request to the server needs one.");
    }
    Ok(Exit::Done)
}

async fn list(arguments: &ListKeys) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let keys = reach.store().keys(arguments.owner.as_deref()).await;
    let mut keys = keys.map_err(data::problem)?;
    reach.close().await;
    let all = keys.len();
    keys.retain(|key| arguments.all || key.is_valid_at(now()));
    if arguments.json {
        let items: Vec<Json> = keys.iter().map(item).collect();
        out::line(&format!("{:#}", json!({"keys": items})));
        return Ok(Exit::Done);
    }
    if keys.is_empty() {
        out::tell(match all {
            0 => "There is no key.",
            _ => "No key is in use; --all shows those that were.",
        });
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&["KEY", "NAME", "OWNER", "SCOPES", "MADE", "USED", "STATE"]);
    let date = |time: i64| local_date_time(Timestamp(time));
    for key in &keys {
        let state = match (key.revoked, key.expires) {
            (Some(revoked), _) => format!("revoked {}", date(revoked)),
            (None, Some(expires)) if expires <= now() => format!("expired {}", date(expires)),
            (None, Some(expires)) => format!("until {}", date(expires)),
            (None, None) => "valid".to_owned(),
        };
        table.row([
            key.prefix.to_string(),
            key.name.to_string(),
            key.owner.to_string(),
            key.scopes.join(", "),
            date(key.created),
            key.used.map(date).unwrap_or_else(|| "never".to_owned()),
            state,
        ]);
    }
    out::print(&table.for_output());
    Ok(Exit::Done)
}

async fn revoke(arguments: &RevokeKey) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let keys = reach.store().keys(None).await.map_err(data::problem)?;
    let wanted = arguments.key.as_str();
    let is_meant = |key: &&KeyRecord| {
        // The whole key may be what somebody has at hand.
        let begins = wanted.len() >= key.prefix.len() && wanted.starts_with(&*key.prefix);
        *key.id == *wanted || *key.name == *wanted || begins
    };
    let mut meant: Vec<&KeyRecord> = keys.iter().filter(is_meant).collect();
    if meant.len() > 1 {
        meant.retain(|key| key.revoked.is_none());
    }
    let key = match meant.as_slice() {
        [] => {
            return Err(Problem::usage("There is no such key.").fix(
                "`easel keys list` shows the keys; name one by how it begins, or by its name.",
            ));
        }
        [key] => *key,
        several => {
            let all: Vec<&str> = several.iter().map(|key| &*key.prefix).collect();
            return Err(Problem::usage("Several keys are meant.")
                .because(all.join(", "))
                .fix("Name one by how it begins."));
        }
    };
    let revoked = reach.store().revoke_key(&key.id).await;
    let revoked = revoked.map_err(data::problem)?;
    reach.close().await;
    out::line(&match revoked {
        true => format!("{} ({:?}) is revoked.", key.prefix, key.name),
        false => format!("{} ({:?}) was revoked before.", key.prefix, key.name),
    });
    Ok(Exit::Done)
}

/// A key for programs, without what opens the door.
fn item(key: &KeyRecord) -> Json {
    let seconds = |time: i64| time as f64 / 1000.0;
    json!({
        "id": key.id,
        "prefix": key.prefix,
        "name": key.name,
        "owner": key.owner,
        "scopes": key.scopes,
        "created_at": seconds(key.created),
        "used_at": key.used.map(seconds),
        "expires_at": key.expires.map(seconds),
        "revoked_at": key.revoked.map(seconds),
    })
}
