//! `easel secrets`: keeping secrets, and saying which ones a workflow needs.

use std::io::IsTerminal;

use easel_runtime::clock::{SystemClock, local_date_time};
use easel_runtime::secrets::{Environment, Provider, Secret, Vault, is_name};

use crate::cli::SecretsCommand;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::read;

pub mod needed;

/// Does what is asked.
pub fn obey(command: &SecretsCommand) -> Result<Exit, Problem> {
    match command {
        SecretsCommand::Set { name } => set(name),
        SecretsCommand::List => list(),
        SecretsCommand::Rm { name } => remove(name),
        SecretsCommand::Check { file } => needed::check(file),
    }
}

fn set(name: &str) -> Result<Exit, Problem> {
    if !is_name(name) {
        // Not quoted: whoever takes it for the place of the value has put the value there.
        let problem = Problem::usage("This cannot name a secret.");
        return Err(problem.fix(
            "Use letters, digits and _, such as API_TOKEN. The value is asked for, and is no argument.",
        ));
    }
    let vault = keyring::vault()?;
    let secret = value_of(name)?;
    vault
        .set(name, &secret, now())
        .map_err(|error| keyring::problem(&error))?;
    out::line(&format!(
        "{name} is set in the vault ({}).",
        vault.path().display()
    ));
    if !secret.is_masked() {
        out::tell(&format!(
            "Its value has under {} characters, so it is not masked: what a tool repeats of it can be read in events, records and prompts.",
            easel_runtime::secrets::SHORTEST
        ));
    }
    if let Some(before) = before_the_vault(name)? {
        out::tell(&format!(
            "{before} has a {name} too, and that counts first."
        ));
    }
    Ok(Exit::Done)
}

/// The value: asked for at a terminal without being shown, else the whole of standard input but its last line break.
fn value_of(name: &str) -> Result<Secret, Problem> {
    let unreadable = |cause: String| Problem::usage("The value cannot be read.").because(cause);
    if std::io::stdin().is_terminal() {
        let terminal = console::Term::stderr();
        out::show(&format!("Value of {name} (it is not shown): "));
        let line = terminal.read_secure_line();
        return match line {
            Ok(line) => Ok(Secret::new(line)),
            Err(error) => Err(unreadable(error.to_string())),
        };
    }
    let mut value = String::from_utf8(read::standard_input()?)
        .map_err(|_| unreadable("It is not UTF-8 text.".to_owned()))?;
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    Ok(Secret::new(value))
}

/// The place that is asked before the vault and has that name.
fn before_the_vault(name: &str) -> Result<Option<&'static str>, Problem> {
    let has = |provider: &dyn Provider| {
        let got = provider.get(name);
        got.map(|secret| secret.is_some())
            .map_err(|error| keyring::problem(&error))
    };
    Ok(if has(&Environment)? {
        Some("The environment")
    } else if has(&keyring::env_file())? {
        Some("The .env file of this folder")
    } else {
        None
    })
}

/// Names, where they are kept, and when they were set. What the environment holds is not listed: nobody knows what of it
/// is a secret.
fn list() -> Result<Exit, Problem> {
    let wrong = |error| keyring::problem(&error);
    let env_file = keyring::env_file().names().map_err(wrong)?;
    let mut rows: Vec<[String; 3]> = env_file
        .into_iter()
        .map(|name| [name, ".env".to_owned(), String::new()])
        .collect();
    for listed in keyring::vault().and_then(|vault: Vault| vault.list().map_err(wrong))? {
        let mut remark = format!("set {}", local_date_time(listed.set));
        if !listed.masked {
            remark.push_str(", too short to be masked");
        }
        if let Some(before) = before_the_vault(&listed.name)? {
            remark.push_str(&format!(
                "; {} counts first",
                before.replacen("The ", "the ", 1)
            ));
        }
        rows.push([listed.name, "vault".to_owned(), remark]);
    }
    rows.sort();
    if rows.is_empty() {
        out::tell("No secrets are kept. Keep one with: easel secrets set NAME");
    }
    out::print(&table(&rows));
    Ok(Exit::Done)
}

fn remove(name: &str) -> Result<Exit, Problem> {
    let vault = keyring::vault()?;
    match vault
        .remove(name)
        .map_err(|error| keyring::problem(&error))?
    {
        true => {
            out::line(&format!("{name} is no longer in the vault."));
            if let Some(before) = before_the_vault(name)? {
                out::tell(&format!("{before} still has a {name}."));
            }
            Ok(Exit::Done)
        }
        false => Err(
            Problem::usage(sentence(&format!("there is no {name} in the vault")))
                .fix("`easel secrets list` shows what there is."),
        ),
    }
}

fn now() -> easel_runtime::Timestamp {
    easel_runtime::clock::Clock::now(&SystemClock)
}

/// Rows in columns.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
