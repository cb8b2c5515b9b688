//! What is past of a run, read back from its journal.

use std::sync::Arc;

use easel_runtime::components::HistoryEntry;
use easel_runtime::core::Machine;
use easel_runtime::core::event::{Event, Fact, Start};
use easel_runtime::{EventId, Journal, Logged, StepRecord, Workflow};
use easel_store::RunRecord;
use serde_json::Value as Json;

use super::following::Following;
use super::{Events, Host, HostError};

impl Host {
    /// What people saw of a run behind an event, or all of it. Each message stands as a whole where it ended; of one that
    /// the reader saw the beginning of, the rest.
    ///
    /// # Errors
    /// There is no such run, or its workflow cannot be compiled.
    pub async fn log(&self, run: &str, after: Option<EventId>) -> Result<Vec<Logged>, HostError> {
        let record = self.record(run).await?;
        let workflow = self.workflow(&record.origin.document).await?;
        let journal = self.read_journal(run).await?;
        let notes = self.store().notes(run).await?;
        let said = self.said(record.origin.session.as_deref()).await?;
        let log = easel_runtime::log(&workflow, journal, notes, &said);
        Ok(match after {
            Some(after) => rest(log, after),
            None => log,
        })
    }

    /// The events of a run behind an event, or from its beginning, and on until its turn ends.
    ///
    /// # Errors
    /// As [`Host::log`].
    pub async fn watch(
        self: &Arc<Self>,
        run: &str,
        after: Option<EventId>,
    ) -> Result<Events, HostError> {
        let live = self.live(run);
        let first = match &live {
            Some(live) => {
                live.accepted().await;
                live.began_at()
            }
            None => None,
        };
        // From before the journal is read, so that nothing is between.
        let following = match &live {
            Some(_) => None,
            None => {
                let record = self.record(run).await?;
                let elsewhere = self.is_elsewhere(&record);
                elsewhere.then(|| Following::new(self, &record))
            }
        };
        let past = match (first, after) {
            (Some(first), Some(after)) if after >= first => Vec::new(),
            _ if following.is_some() => self.told_elsewhere(run, after).await?,
            _ => {
                let mut past = self.log(run, after).await?;
                past.retain(|logged| first.is_none_or(|first| logged.id < first));
                past
            }
        };
        let events = Events::new(self.clone(), run.into(), past, live, after);
        Ok(events.following(following))
    }

    /// What the journal has behind an event of a run that another server drives. As long as it does not have the message that
    /// the reader saw the beginning of, nothing: what stands there does not say how much of it was shown by then.
    pub(super) async fn told_elsewhere(
        &self,
        run: &str,
        after: Option<EventId>,
    ) -> Result<Vec<Logged>, HostError> {
        let log = self.log(run, after).await?;
        let amid = after.is_some_and(|after| after.shown > 0);
        Ok(match amid && !log.iter().any(closes_or_goes_on) {
            true => Vec::new(),
            false => log,
        })
    }

    /// A run as it was when its journal had that many entries; `None` if it had not begun by then.
    ///
    /// # Errors
    /// As [`Host::log`].
    pub async fn state_at(
        &self,
        run: &str,
        entries: Option<usize>,
    ) -> Result<Option<(Arc<Workflow>, Machine)>, HostError> {
        let record = self.record(run).await?;
        let workflow = self.workflow(&record.origin.document).await?;
        let journal = self.read_journal(run).await?;
        let entries = entries.unwrap_or(journal.len());
        let said = self.said(record.origin.session.as_deref()).await?;
        let machine = easel_runtime::state_at(&workflow, journal, &said, entries);
        Ok(machine.map(|machine| (workflow, machine)))
    }

    /// Every attempt that a run made.
    ///
    /// # Errors
    /// As [`Host::log`].
    pub async fn steps(&self, run: &RunRecord) -> Result<Vec<StepRecord>, HostError> {
        let workflow = self.workflow(&run.origin.document).await?;
        let journal = self.read_journal(&run.id).await?;
        let said = self.said(run.origin.session.as_deref()).await?;
        Ok(easel_runtime::steps(&workflow, journal, &said))
    }

    /// The first entry of a run's journal has what it was given; `None` for a run that has none.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub async fn given(&self, run: &str) -> Result<Option<Start>, HostError> {
        let journal = self.read_journal(run).await?;
        Ok(journal
            .into_iter()
            .next()
            .and_then(|event| match event.fact {
                Fact::Started(start) => Some(start),
                _ => None,
            }))
    }

    pub(super) async fn read_journal(&self, run: &str) -> Result<Vec<Event>, HostError> {
        let journal = self.store().read(run).await;
        journal.map_err(|error| HostError::Turn(error.into()))
    }

    /// What was said in a conversation.
    async fn said(&self, session: Option<&str>) -> Result<Vec<HistoryEntry>, HostError> {
        let Some(session) = session else {
            return Ok(Vec::new());
        };
        let kept = self.store().conversation(session).await?;
        let said = kept.map(|(_, said)| said).unwrap_or_default();
        Ok(said.into_iter().map(HistoryEntry::from).collect())
    }
}

/// What is behind an event. If it was in the midst of a message, the message goes on from there.
fn rest(log: Vec<Logged>, after: EventId) -> Vec<Logged> {
    let mut seen = usize::try_from(after.shown).unwrap_or(usize::MAX);
    let behind = log.into_iter().filter(|logged| logged.id > after);
    let mut rest = Vec::new();
    for mut logged in behind {
        match logged.name() {
            "message" if seen > 0 => {
                rest.extend(without(&logged, seen));
                seen = 0;
            }
            "message_end" | "message_reset" => {
                seen = 0;
                rest.push(logged);
            }
            _ => {
                // Whoever goes on behind this one has still seen as much of the message.
                if logged.id.shown == 0 {
                    logged.id.shown = seen as u64;
                }
                rest.push(logged);
            }
        }
    }
    rest
}

/// Whether an event is about the message that is being said.
fn closes_or_goes_on(logged: &Logged) -> bool {
    matches!(logged.name(), "message" | "message_end" | "message_reset")
}

/// A message without the characters that were seen; `None` if nothing is left.
fn without(logged: &Logged, seen: usize) -> Option<Logged> {
    let mut data: Json = serde_json::from_str(logged.data()).ok()?;
    let content = data.get("content")?.as_str()?;
    let left: String = content.chars().skip(seen).collect();
    if left.is_empty() {
        return None;
    }
    data["content"] = left.into();
    let event = serde_json::json!({"event": logged.name(), "data": data});
    Some(Logged {
        id: logged.id,
        json: event.to_string().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(id: &str, name: &str, content: &str) -> Logged {
        let json = format!(r#"{{"event":"{name}","data":{{"content":"{content}"}}}}"#);
        Logged {
            id: id.parse().unwrap(),
            json: json.into(),
        }
    }

    fn told(log: Vec<Logged>) -> Vec<String> {
        let told = log
            .iter()
            .map(|l| format!("{} {} {}", l.id, l.name(), l.data()));
        told.collect()
    }

    #[test]
    fn who_saw_half_a_message_gets_the_other_half() {
        let log = || {
            vec![
                logged("1.0", "node_started", ""),
                logged("1.0+6", "message", "Grüße!"),
                logged("2.0", "message_end", ""),
                logged("3.0+3", "message", "two"),
            ]
        };
        let after = |id: &str| told(rest(log(), id.parse().unwrap()));
        assert_eq!(after("1.0+2")[0], r#"1.0+6 message {"content":"üße!"}"#);
        assert_eq!(after("1.0+2")[2], r#"3.0+3 message {"content":"two"}"#);
        assert_eq!(after("1.0+6").len(), 2);
        assert_eq!(after("1.0").len(), 3);
    }

    #[test]
    fn who_saw_half_a_message_has_still_seen_it_behind_other_events() {
        let log = || {
            vec![
                logged("1.0", "node_started", ""),
                logged("2.0", "node_finished", ""),
                logged("2.0+6", "message", "Grüße!"),
            ]
        };
        let first = rest(log(), "1.0+2".parse().unwrap());
        assert_eq!(first[0].id.to_string(), "2.0+2");
        // The connection breaks behind that one.
        let again = rest(log(), first[0].id);
        assert_eq!(told(again), [r#"2.0+6 message {"content":"üße!"}"#]);
    }

    #[test]
    fn what_was_seen_of_a_lost_attempt_does_not_shorten_the_next() {
        let log = vec![
            logged("1.1", "message_reset", ""),
            logged("1.1+3", "message", "abc"),
        ];
        let rest = rest(log, "1.0+2".parse().unwrap());
        assert_eq!(told(rest)[1], r#"1.1+3 message {"content":"abc"}"#);
    }
}
