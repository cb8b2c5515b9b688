//! The members of a mapping, read one by one into types.

use std::sync::Arc;

use easel_core::{Number, Object};

use crate::document::{Spanned, Text};
use crate::field::{Field, Holds};
use crate::finding::{Code, Finding, Stage};
use crate::marked::{Data, Entry, Map, Marked};
use crate::place::{Place, Position};
use crate::structure::SUGGESTIONS;

/// A mapping that is being read, and where to say what is wrong with it.
pub(super) struct Members<'a> {
    pub(super) map: &'a Map,
    /// Where the mapping stands.
    pub(super) at: Position,
    pub(super) place: Place,
    /// The id of the node it belongs to.
    pub(super) node: Option<Arc<str>>,
    pub(super) findings: &'a mut Vec<Finding>,
}

/// A value that stands in a text.
pub(super) fn stated<T>(value: T, at: Position) -> Spanned<T> {
    Spanned { value, at }
}

impl<'a> Members<'a> {
    pub(super) fn new(
        map: &'a Map,
        at: Position,
        place: Place,
        findings: &'a mut Vec<Finding>,
    ) -> Members<'a> {
        Members {
            map,
            at,
            place,
            node: None,
            findings,
        }
    }

    /// The members of a mapping inside this one.
    pub(super) fn inside<'b>(
        &'b mut self,
        map: &'b Map,
        at: Position,
        place: Place,
    ) -> Members<'b> {
        Members {
            map,
            at,
            place,
            node: self.node.clone(),
            findings: self.findings,
        }
    }

    /// The value of a key that is set: `null` is not.
    pub(super) fn get(&self, name: &str) -> Option<&'a Marked> {
        let value = self.map.get(name).map(|entry| &entry.value);
        value.filter(|value| !value.is_null())
    }

    /// Where a key stands, or else the mapping.
    pub(super) fn at_key(&self, name: &str) -> Position {
        self.map
            .get(name)
            .map_or(self.start(), |entry| entry.key.at)
    }

    /// The beginning of the mapping: to point at all of it would point at a page.
    pub(super) fn start(&self) -> Position {
        Position { len: 0, ..self.at }
    }

    #[expect(clippy::too_many_arguments, reason = "a finding has that many parts")]
    pub(super) fn report(
        &mut self,
        code: Code,
        stage: Stage,
        place: Place,
        at: Position,
        subject: Option<&str>,
        cause: String,
        fix: impl Into<String>,
    ) {
        self.findings.push(Finding {
            code,
            severity: code.severity(),
            stage,
            place,
            at,
            node: self.node.clone(),
            subject: subject.map(Arc::from),
            cause,
            fix: fix.into(),
        });
    }

    /// Says that a value at `place` has the wrong type.
    pub(super) fn wrong_type(&mut self, name: &str, place: Place, value: &Marked, holds: Holds) {
        let cause = format!(
            "`{name}` is {}, where {} belongs.",
            value.described(),
            holds.expected()
        );
        let takes_text = matches!(
            holds,
            Holds::Text | Holds::Template | Holds::Expression | Holds::Id
        );
        let fix = match (&value.data, value.unquoted_placeholder()) {
            (_, Some(text)) if takes_text => format!("Put it in quotes: \"{text}\"."),
            (Data::Bool(_) | Data::Number(_), _) if takes_text => {
                "Put it in quotes if it is meant as text.".to_owned()
            }
            _ => holds.advice().to_owned(),
        };
        self.report(
            Code::Type,
            Stage::Load,
            place,
            value.at,
            Some(name),
            cause,
            fix,
        );
    }

    fn wrong(&mut self, name: &str, value: &Marked, holds: Holds) {
        let place = self.place.key(name);
        self.wrong_type(name, place, value, holds);
    }

    /// Says that a word is none of those allowed.
    pub(super) fn wrong_choice(&mut self, name: &str, at: Position, word: &str, words: &[&str]) {
        let cause = format!(
            "`{name}` is {word:?}, which is none of `{}`.",
            words.join("`, `")
        );
        let place = self.place.key(name);
        let fix = match easel_catalog::nearest(word, words.iter().copied()) {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "Write one of these words.".to_owned(),
        };
        self.report(Code::Choice, Stage::Load, place, at, Some(name), cause, fix);
    }

    /// A text. No other type becomes one.
    pub(super) fn text(&mut self, name: &str, holds: Holds) -> Option<Text> {
        let value = self.get(name)?;
        match value.as_text() {
            Some(text) => Some(stated(text.clone(), value.at)),
            None => {
                self.wrong(name, value, holds);
                None
            }
        }
    }

    /// A text that has to be there and not be blank; without blanks around it.
    pub(super) fn required_text(&mut self, name: &str, missing: &str, fix: &str) -> Option<Text> {
        let text = match self.get(name) {
            Some(_) => self.text(name, Holds::Text)?,
            None => Spanned::new("".into()),
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            let (at, place) = (self.at_key(name), self.place.key(name));
            self.report(
                Code::Missing,
                Stage::Load,
                place,
                at,
                Some(name),
                missing.to_owned(),
                fix,
            );
            return None;
        }
        Some(stated(trimmed.into(), text.at))
    }

    /// A boolean, or a word or number that means one.
    pub(super) fn flag(&mut self, name: &str, default: bool) -> Spanned<bool> {
        let Some(value) = self.get(name) else {
            return Spanned::new(default);
        };
        match as_flag(value) {
            Some(flag) => stated(flag, value.at),
            None => {
                self.wrong(name, value, Holds::Flag);
                Spanned::new(default)
            }
        }
    }

    /// A whole number of at least `min`, or its text.
    pub(super) fn whole(&mut self, name: &str, min: u32) -> Option<Spanned<u64>> {
        let value = self.get(name)?;
        let whole = as_number(value).and_then(|number| match number {
            Number::Int(n) => u64::try_from(n).ok(),
            Number::Big(n) => Some(n),
            Number::Float(n) if n >= 0.0 && n.fract() == 0.0 && n < 9e15 => Some(n as u64),
            Number::Float(_) => None,
        });
        match whole.filter(|&n| n >= u64::from(min)) {
            Some(n) => Some(stated(n, value.at)),
            None => {
                self.wrong(name, value, Holds::Count(min));
                None
            }
        }
    }

    /// Like [`whole`](Members::whole); what is beyond 32 bits is as good as the largest.
    pub(super) fn count(&mut self, name: &str, min: u32) -> Option<Spanned<u32>> {
        let whole = self.whole(name, min)?;
        let value = u32::try_from(whole.value).unwrap_or(u32::MAX);
        Some(stated(value, whole.at))
    }

    /// A number that is not negative, or its text.
    pub(super) fn number(&mut self, name: &str) -> Option<Spanned<f64>> {
        let value = self.get(name)?;
        let number = as_number(value).map(Number::as_f64);
        match number.filter(|n| n.is_finite() && *n >= 0.0) {
            Some(n) => Some(stated(n, value.at)),
            None => {
                self.wrong(name, value, Holds::Number(0.0));
                None
            }
        }
    }

    /// A list of texts. A single text is none.
    pub(super) fn texts(&mut self, name: &str, holds: Holds) -> Vec<Text> {
        let Some(value) = self.get(name) else {
            return Vec::new();
        };
        let Some(items) = value.as_list() else {
            let place = self.place.key(name);
            let cause = format!(
                "`{name}` is {}, where {} belongs.",
                value.described(),
                holds.expected()
            );
            let fix = match value.as_text() {
                Some(text) => format!("Put it in brackets: [{text}]."),
                None => holds.advice().to_owned(),
            };
            self.report(
                Code::Type,
                Stage::Load,
                place,
                value.at,
                Some(name),
                cause,
                fix,
            );
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match item.as_text() {
                Some(text) => texts.push(stated(text.clone(), item.at)),
                None => {
                    let place = self.place.key(name).index(at);
                    self.wrong_type(name, place, item, Holds::Text);
                }
            }
        }
        texts
    }

    /// A mapping whose keys are texts.
    pub(super) fn object(&mut self, name: &str, holds: Holds) -> Option<Spanned<Object>> {
        let value = self.get(name)?;
        let Some(map) = value.as_map() else {
            self.wrong(name, value, holds);
            return None;
        };
        for entry in map {
            self.text_key(name, entry);
        }
        Some(stated(map.to_object(), value.at))
    }

    /// Whether the key of a member of `name` is a text; says so if it isn't.
    pub(super) fn text_key(&mut self, name: &str, entry: &Entry) -> bool {
        let Some(found) = entry.key.not_text else {
            return true;
        };
        let place = self.place.key(name).key(&entry.key.name);
        let cause = format!("A key of `{name}` is {found} to YAML, where text belongs.");
        let fix = "Put the key in quotes.";
        let subject = Some(name);
        self.report(
            Code::KeyNotText,
            Stage::Load,
            place,
            entry.key.at,
            subject,
            cause,
            fix,
        );
        false
    }

    /// Reports every member that is none of the fields.
    pub(super) fn unknown_keys(&mut self, fields: &[Field]) {
        for entry in self.map {
            let name = &entry.key.name;
            if fields.iter().any(|field| field.answers_to(name)) {
                continue;
            }
            self.unknown_key(entry, fields);
        }
    }

    /// Reports a member that is none of the fields.
    pub(super) fn unknown_key(&mut self, entry: &Entry, fields: &[Field]) {
        let name = &entry.key.name;
        let known = fields
            .iter()
            .flat_map(|field| [Some(field.name), field.alias]);
        let meant = (self.findings.len() < SUGGESTIONS)
            .then(|| easel_catalog::nearest(name, known.flatten()))
            .flatten();
        let fix = match meant {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "Leave it out.".to_owned(),
        };
        let cause = format!("Nothing reads the key `{name}`.");
        let place = self.place.key(name);
        let subject = Some(&**name);
        self.report(
            Code::UnknownKey,
            Stage::Check,
            place,
            entry.key.at,
            subject,
            cause,
            fix,
        );
    }
}

/// What counts as true or false.
fn as_flag(value: &Marked) -> Option<bool> {
    match &value.data {
        Data::Bool(flag) => Some(*flag),
        Data::Number(Number::Int(1)) => Some(true),
        Data::Number(Number::Int(0)) => Some(false),
        Data::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" | "y" | "t" => Some(true),
            "false" | "no" | "off" | "0" | "n" | "f" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A number, or the number that a text spells.
fn as_number(value: &Marked) -> Option<Number> {
    match &value.data {
        Data::Number(number) => Some(*number),
        Data::Text(text) => Number::parse(text),
        _ => None,
    }
}
