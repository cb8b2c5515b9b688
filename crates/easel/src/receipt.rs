//! `easel receipt`, and the receipts of runs.

use std::path::Path;

use easel_runtime::Session;
use easel_runtime::Timestamp;
use easel_runtime::clock::local_date_time;
use easel_runtime::secrets::{Receipt, SignedReceipt, SinkKind};

use crate::cli::ReceiptArguments;
use crate::data;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::reach::{LAST, Reach, within};
use crate::read;

/// Shows or verifies a receipt.
pub fn receipt(arguments: &ReceiptArguments) -> Result<Exit, Problem> {
    let Some(file) = &arguments.file else {
        out::line(&keyring::receipt_key()?.public());
        return Ok(Exit::Done);
    };
    let name = file.display();
    if !file.exists() && is_run(&name.to_string()) {
        return kept(&name.to_string(), arguments);
    }
    let text = read::text(file)?;
    let signed = SignedReceipt::parse(&text).map_err(|error| {
        Problem::usage(format!("{name} cannot be read.")).because(sentence(&error.to_string()))
    })?;
    if !arguments.verify {
        match arguments.json {
            true => out::line(text.trim_end()),
            false => show(&signed.receipt),
        }
        return Ok(Exit::Done);
    }
    let signer = match &arguments.signer {
        Some(signer) => signer.clone(),
        None => keyring::receipt_key()?.public(),
    };
    match signed.verify(&signer) {
        Ok(()) => {
            out::line(&format!(
                "{name} is as it was signed: run {}, {}.",
                signed.receipt.run,
                count(
                    signed.receipt.entries.len(),
                    "use of a secret",
                    "uses of secrets"
                ),
            ));
            Ok(Exit::Done)
        }
        Err(error) => Err(
            Problem::new(Exit::Failed, format!("{name} is not to be believed."))
                .because(sentence(&error.to_string())),
        ),
    }
}

/// Whether something names a run: `last`, or an id.
fn is_run(name: &str) -> bool {
    let is_id = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    name == LAST || is_id
}

/// Shows the receipt of a run that is kept. It is signed now, by whoever asks: the store keeps it unsigned.
fn kept(run: &str, arguments: &ReceiptArguments) -> Result<Exit, Problem> {
    if arguments.verify {
        return Err(
            Problem::usage("The receipt of a run that is kept is not signed yet.")
                .fix("Write it first: easel receipt RUN --json > receipt.json"),
        );
    }
    let receipt = within(async {
        let reach = Reach::existing(&arguments.data).await?;
        let record = reach.run(run).await?;
        let receipt = reach.store().receipt(&record.id).await;
        let receipt = receipt.map_err(data::problem)?;
        reach.close().await;
        Ok(receipt.unwrap_or(Receipt {
            version: Receipt::VERSION,
            run: record.id.to_string(),
            entries: Vec::new(),
            bytes_scanned: 0,
            masked: 0,
            unmasked: Vec::new(),
        }))
    })?;
    if arguments.json {
        let signed = receipt.sign(&keyring::receipt_key()?);
        out::line(&serde_json::to_string_pretty(&signed).unwrap_or_default());
    } else {
        show(&receipt);
    }
    Ok(Exit::Done)
}

fn show(receipt: &Receipt) {
    out::line(&format!("Run {}", receipt.run));
    for entry in &receipt.entries {
        let kind = match entry.kind {
            SinkKind::Tool => "tool",
            SinkKind::Model => "model provider",
            SinkKind::Component => "component",
        };
        let scope = match entry.scope.is_empty() {
            true => String::new(),
            false => format!(" in {}", entry.scope),
        };
        out::line(&format!(
            "{}  {} (from {}) to the {kind} {}, for {}{scope}",
            local_date_time(Timestamp(entry.time)),
            entry.secret,
            entry.provider,
            entry.sink,
            entry.node,
        ));
    }
    if receipt.entries.is_empty() {
        out::line("No secret was used.");
    }
    out::line(&format!(
        "Searched for secrets on the way out: {}; masked: {}.",
        count(receipt.bytes_scanned as usize, "byte", "bytes"),
        count(receipt.masked as usize, "place", "places"),
    ));
    for secret in &receipt.unmasked {
        out::line(&format!(
            "{secret} stood in a number, where it could not be masked."
        ));
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

/// The signed receipt of a session's last run; `None` if it had nothing to do with secrets.
pub fn of(session: &Session) -> Result<Option<SignedReceipt>, Problem> {
    let receipt = session.receipt();
    let Some(receipt) = receipt.filter(|r| !r.entries.is_empty() || r.bytes_scanned > 0) else {
        return Ok(None);
    };
    Ok(Some(receipt.sign(&keyring::receipt_key()?)))
}

/// Writes the receipt of a session's last run to a file, also one without secrets.
pub fn write(session: &Session, path: &Path) -> Result<(), Problem> {
    let Some(receipt) = session.receipt() else {
        out::tell("There was no run, so there is no receipt.");
        return Ok(());
    };
    let signed = receipt.sign(&keyring::receipt_key()?);
    let text = serde_json::to_string_pretty(&signed).unwrap_or_default();
    std::fs::write(path, text + "\n").map_err(|error| Problem::file(path, "written", &error))
}
