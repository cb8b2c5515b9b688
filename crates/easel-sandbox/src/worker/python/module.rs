//! One module of the user's in the built-in interpreter.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use monty::{MontyRepl, ReplProgress};
use monty_types::{
    AssertMessageAnnotations, CompileOptions, ExcType, ExtFunctionResult, MontyDate, MontyDateTime,
    MontyException, MontyObject, MontyTimeZone, NameLookupResult, OsFunctionCall, PrintWriter,
    PrintWriterCallback, ResourceLimits, ResourceTracker, StackFrame,
};

use super::super::convert;
use crate::protocol::{Call, Failure, FailureKind, Frame};

/// What `until` functions need; fed after the module, so that the user's lines stay where they are.
const PRELUDE: &str = include_str!("prelude.py");

/// The name that the interpreter gives the first text it is fed: the user's file.
const FIRST: &str = "<python-input-0>";

/// The names in the module that a call uses.
const ARGUMENTS: &str = "_easel_arguments";
const VALUE: &str = "_easel_value";

/// How much of an exception's text is kept, in bytes.
const MOST_MESSAGE: usize = 10_000;

/// How much of a traceback is kept, in bytes.
const MOST_TRACEBACK: usize = 100_000;

/// A module that has run.
pub(super) struct Module {
    file: Arc<str>,
    /// `None` only while code runs in it.
    session: Option<MontyRepl>,
    has_prelude: bool,
}

impl Module {
    /// Runs the text of a module.
    ///
    /// # Errors
    /// What it raised.
    pub(super) fn load(
        file: &Arc<str>,
        text: &str,
        call: &Call,
        memory: u64,
        printed: &mut Printed,
    ) -> Result<Module, Failure> {
        let limits = ResourceLimits::default()
            .max_memory(usize::try_from(memory).unwrap_or(usize::MAX))
            .max_duration(Duration::from_millis(call.time));
        let options = CompileOptions {
            assert_message_annotations: AssertMessageAnnotations::Off,
        };
        let session = MontyRepl::new(file, ResourceTracker::new(limits), options);
        let mut module = Module {
            file: file.clone(),
            session: Some(session),
            has_prelude: false,
        };
        // An empty text is not fed at all, and the next one would pass for the user's file.
        let text = if text.is_empty() { "\n" } else { text };
        module.run(text, Vec::new(), printed)?;
        Ok(module)
    }

    /// Calls something in the module.
    ///
    /// # Errors
    /// What it raised.
    pub(super) fn call(
        &mut self,
        call: &Call,
        printed: &mut Printed,
    ) -> Result<MontyObject, Failure> {
        if let Some(session) = &mut self.session {
            session
                .tracker_mut()
                .set_max_duration(Duration::from_millis(call.time));
        }
        let attribute = &call.attribute;
        let code = if call.verdict {
            if !self.has_prelude {
                self.run(PRELUDE, Vec::new(), printed)?;
                self.has_prelude = true;
            }
            let members = if call.result_by_attribute {
                "; _easel_iteration.result = _easel_members(_easel_iteration.result)"
            } else {
                ""
            };
            format!(
                "_easel_iteration = LoopIteration({ARGUMENTS}){members}\n\
                 {VALUE} = {attribute}(_easel_iteration)\n{VALUE}"
            )
        } else {
            format!("{VALUE} = {attribute}(**{ARGUMENTS})\n{VALUE}")
        };
        let arguments = convert::dictionary(&call.arguments);
        let value = self.run(&code, vec![(ARGUMENTS.into(), arguments)], printed)?;
        if is_coroutine(&value) {
            return self.run(
                &format!("{VALUE} = await {VALUE}\n{VALUE}"),
                Vec::new(),
                printed,
            );
        }
        Ok(value)
    }

    fn run(
        &mut self,
        code: &str,
        inputs: Vec<(String, MontyObject)>,
        printed: &mut Printed,
    ) -> Result<MontyObject, Failure> {
        let Some(session) = self.session.take() else {
            let gone = MontyException::runtime_error("the module was lost");
            return Err(self.failure(&gone));
        };
        let mut progress = session.feed_start(code, inputs, PrintWriter::Callback(printed));
        loop {
            progress = match progress {
                Ok(ReplProgress::Complete { repl, value }) => {
                    self.session = Some(repl);
                    return Ok(value);
                }
                Err(stopped) => {
                    self.session = Some(stopped.repl);
                    return Err(self.failure(&stopped.error));
                }
                Ok(ReplProgress::OsCall(call)) => {
                    call.resume_with(PrintWriter::Callback(printed), answer)
                }
                Ok(ReplProgress::NameLookup(lookup)) => {
                    lookup.resume(NameLookupResult::Undefined, PrintWriter::Callback(printed))
                }
                Ok(ReplProgress::FunctionCall(call)) => {
                    let unknown = ExtFunctionResult::NotFound(call.function_name.clone());
                    call.resume(unknown, PrintWriter::Callback(printed))
                }
                Ok(stuck @ ReplProgress::ResolveFutures(_)) => {
                    self.session = Some(stuck.into_repl());
                    let never =
                        MontyException::runtime_error("await for something that never comes");
                    return Err(self.failure(&never));
                }
            };
        }
    }

    /// What was raised, without the lines that are ours.
    fn failure(&self, error: &MontyException) -> Failure {
        let message = error.message().unwrap_or_default();
        let kind = match error.exc_type() {
            ExcType::TimeoutError if message.starts_with("time limit exceeded") => {
                FailureKind::Time
            }
            ExcType::MemoryError => FailureKind::Memory,
            _ => FailureKind::Raised,
        };
        let own: Vec<StackFrame> = error
            .traceback()
            .iter()
            .filter(|frame| frame.filename == FIRST)
            .cloned()
            .map(|frame| StackFrame {
                filename: self.file.to_string(),
                ..frame
            })
            .collect();
        let frames = own
            .iter()
            .map(|frame| Frame {
                file: self.file.clone(),
                line: frame.start.line,
                function: frame
                    .frame_name
                    .clone()
                    .unwrap_or_else(|| "<module>".into()),
            })
            .collect();
        let shown = MontyException::with_traceback(error.exc_type(), Some(message.to_owned()), own);
        Failure {
            kind,
            exception: error.exc_type().to_string(),
            message: cut(message, MOST_MESSAGE).to_owned(),
            frames,
            traceback: cut(&shown.to_string(), MOST_TRACEBACK).to_owned(),
        }
    }
}

fn cut(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most.min(text.len()));
    text.get(..end).unwrap_or_default()
}

fn is_coroutine(value: &MontyObject) -> bool {
    matches!(value, MontyObject::Repr(repr) if repr.starts_with("<coroutine object"))
}

/// Answers what code asks of the system: it has a clock and an empty environment, and nothing else.
fn answer(call: OsFunctionCall) -> ExtFunctionResult {
    match call {
        OsFunctionCall::DateToday => {
            let now = clock(0);
            ExtFunctionResult::Return(MontyObject::Date(MontyDate {
                year: now.year,
                month: now.month,
                day: now.day,
            }))
        }
        OsFunctionCall::DateTimeNow(zone) => {
            ExtFunctionResult::Return(MontyObject::DateTime(now_in(zone)))
        }
        OsFunctionCall::GetEnviron => {
            ExtFunctionResult::Return(MontyObject::dict(Vec::<(MontyObject, MontyObject)>::new()))
        }
        OsFunctionCall::Getenv(arguments) => ExtFunctionResult::Return(arguments.default),
        refused => ExtFunctionResult::Error(refused.on_no_handler()),
    }
}

fn now_in(zone: Option<MontyTimeZone>) -> MontyDateTime {
    let Some(zone) = zone else {
        return clock(0);
    };
    MontyDateTime {
        offset_seconds: Some(zone.offset_seconds),
        timezone_name: zone.name,
        ..clock(zone.offset_seconds)
    }
}

/// The time that many seconds east of UTC. Code sees UTC as its local time.
fn clock(offset: i32) -> MontyDateTime {
    const DAY: i64 = 86_400;
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0) + i64::from(offset);
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let in_day = seconds.rem_euclid(DAY);
    let part = |value: i64| u8::try_from(value).unwrap_or(0);
    MontyDateTime {
        year,
        month,
        day,
        hour: part(in_day / 3_600),
        minute: part(in_day / 60 % 60),
        second: part(in_day % 60),
        microsecond: since.subsec_micros(),
        offset_seconds: None,
        timezone_name: None,
    }
}

/// The date that many days after 1 January 1970, in the Gregorian calendar.
fn civil(days: i64) -> (i32, u8, u8) {
    // Years begin in March here, so that the leap day is the last of a year and eras of 400 years are all alike.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (
        i32::try_from(year).unwrap_or(i32::MAX),
        u8::try_from(month).unwrap_or(1),
        u8::try_from(day).unwrap_or(1),
    )
}

/// What code prints, up to a limit.
pub(super) struct Printed {
    text: String,
    most: usize,
    dropped: u64,
}

impl Printed {
    pub(super) fn new(most: usize) -> Printed {
        Printed {
            text: String::new(),
            most,
            dropped: 0,
        }
    }

    /// What is kept, and how many bytes are not.
    pub(super) fn finish(self) -> (String, u64) {
        (self.text, self.dropped)
    }

    fn push(&mut self, text: &str) {
        let room = if self.dropped == 0 {
            self.most.saturating_sub(self.text.len())
        } else {
            0
        };
        let kept = text.floor_char_boundary(room.min(text.len()));
        self.text.push_str(text.get(..kept).unwrap_or_default());
        self.dropped += (text.len() - kept) as u64;
    }
}

impl PrintWriterCallback for Printed {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.push(&output);
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.push(end.encode_utf8(&mut [0; 4]));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_454, (2026, 1, 1)),
        ] {
            assert_eq!(civil(days), date);
        }
    }
}
