//! The one gate of a run: secrets go in to tools, and nothing goes out unmasked.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use easel_core::argument::Argument;
use easel_core::event::Timestamp;
use easel_core::{Object, Value};

use crate::error::SecretError;
use crate::fill;
use crate::mask::{Masker, Tally};
use crate::mask_value::Unmasked;
use crate::receipt::{Receipt, ReceiptEntry};
use crate::resolver::Resolver;
use crate::secret::{Opened, OpenedValue, Secret};
use crate::stream::MaskStream;

/// The gate of one run.
///
/// Inwards it opens secrets for tools, one [`Door`] a call. Outwards it masks: everything that leaves the run passes one
/// of its `mask` methods. It knows the values that the run declared or fetched, no others. While it knows none, each of
/// these methods is one read of a flag.
///
/// Cloning one costs a reference count; the clone is the same gate.
///
/// ```
/// use easel_secrets::{Gate, Resolver, Secret, Sink, SinkKind};
/// # use std::collections::HashMap;
///
/// let secrets = HashMap::from([("TOKEN".to_owned(), Secret::new("s3cr3t-value"))]);
/// let gate = Gate::new("run-1", Resolver::from(secrets));
/// let door = gate.door(Sink::new(SinkKind::Tool, "http", "fetch"));
/// let token = door.secret("TOKEN")?.expect("it is set");
/// assert_eq!(token.expose(), "s3cr3t-value");
/// assert_eq!(gate.mask("sent s3cr3t-value"), "sent ••••••");
/// assert_eq!(gate.receipt().entries[0].secret, "TOKEN");
/// # Ok::<(), easel_secrets::SecretError>(())
/// ```
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    run: Arc<str>,
    resolver: Resolver,
    /// Whether there is something to mask.
    armed: AtomicBool,
    known: RwLock<Known>,
    entries: Mutex<Vec<ReceiptEntry>>,
    unmasked: Mutex<BTreeSet<Unmasked>>,
    scanned: AtomicU64,
    masked: AtomicU64,
}

#[derive(Default)]
struct Known {
    secrets: Vec<(Arc<str>, Secret)>,
    masker: Masker,
    /// How often the masker has changed.
    version: u64,
}

/// Where a secret goes: to which tool, model or component, for which node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// What it is.
    pub kind: SinkKind,
    /// Its name: of a tool, a provider of models, a component.
    pub name: Arc<str>,
    /// The id of the node that uses it.
    pub node: Arc<str>,
    /// The passes around the node, outermost first, as events show them; empty at the root.
    pub scope: Arc<str>,
    /// When.
    pub time: Timestamp,
}

/// What a secret goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SinkKind {
    /// A tool.
    Tool,
    /// A provider of models, as the key of a request.
    Model,
    /// A component.
    Component,
}

impl Sink {
    /// A sink of a node at the root, at no time.
    pub fn new(kind: SinkKind, name: impl Into<Arc<str>>, node: impl Into<Arc<str>>) -> Sink {
        Sink {
            kind,
            name: name.into(),
            node: node.into(),
            scope: "".into(),
            time: Timestamp(0),
        }
    }
}

impl Gate {
    /// The gate of a run.
    pub fn new(run: impl Into<Arc<str>>, resolver: Resolver) -> Gate {
        Gate(Arc::new(Inner {
            run: run.into(),
            resolver,
            armed: AtomicBool::new(false),
            known: RwLock::default(),
            entries: Mutex::default(),
            unmasked: Mutex::default(),
            scanned: AtomicU64::new(0),
            masked: AtomicU64::new(0),
        }))
    }

    /// Opens a door to one sink, for one call.
    pub fn door(&self, sink: Sink) -> Door<'_> {
        Door { gate: self, sink }
    }

    /// Makes the values of these secrets known before anything of them is fetched by a tool, so that what users and tools
    /// bring along is masked from the beginning. Those that are not set or cannot be had are left out: nobody gets them.
    ///
    /// # Errors
    /// [`SecretError::TooMany`].
    pub fn declare<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<(), SecretError> {
        let found = names.into_iter().filter_map(|name| {
            let found = self.0.resolver.find(name).ok().flatten()?;
            Some((Arc::from(name), found.secret))
        });
        self.know(found.collect())
    }

    /// Makes values known that stand in a file, each with a name for it: they are masked like secrets (design §5.5).
    ///
    /// # Errors
    /// [`SecretError::TooMany`].
    pub fn know(&self, secrets: Vec<(Arc<str>, Secret)>) -> Result<(), SecretError> {
        let is_known = |known: &Known, secret: &Secret| {
            let mut values = known.secrets.iter().map(|(_, known)| known.value());
            values.any(|value| value == secret.value())
        };
        {
            let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
            if secrets.iter().all(|(_, secret)| is_known(&known, secret)) {
                return Ok(());
            }
        }
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.secrets.len();
        for (name, secret) in secrets {
            if !is_known(&known, &secret) {
                known.secrets.push((name, secret));
            }
        }
        let named = known.secrets.iter();
        match Masker::named(named.map(|(name, secret)| (name.clone(), secret))) {
            Ok(masker) => {
                let armed = !masker.is_empty();
                known.masker = masker;
                known.version += 1;
                self.0.armed.store(armed, Ordering::Release);
                Ok(())
            }
            Err(error) => {
                known.secrets.truncate(before);
                Err(error.into())
            }
        }
    }

    /// The secrets it knows, by name: for the gate of a run that follows.
    pub fn known(&self) -> Vec<(Arc<str>, Secret)> {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        known.secrets.clone()
    }

    /// Whether there is something to mask.
    pub fn is_armed(&self) -> bool {
        self.0.armed.load(Ordering::Acquire)
    }

    fn masker(&self) -> (Masker, u64) {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.masker.clone(), known.version)
    }

    /// The text without secrets.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.is_armed() {
            return Cow::Borrowed(text);
        }
        let mut tally = Tally::default();
        let masked = self.masker().0.mask_counted(text, &mut tally);
        self.count(tally);
        masked
    }

    /// Takes the secrets out of a text.
    pub fn mask_text(&self, text: &mut Arc<str>) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked.into();
        }
    }

    /// Takes the secrets out of a value: see [`Masker::mask_value`].
    pub fn mask_value(&self, value: &mut Value) {
        self.change(|masker, tally, unmasked| {
            if let Some(masked) = masker.masked(value, tally, unmasked) {
                *value = masked;
            }
        });
    }

    /// Takes the secrets out of members and their names.
    pub fn mask_object(&self, members: &mut Object) {
        self.change(|masker, tally, unmasked| {
            if let Some(masked) = masker.masked_members(members, tally, unmasked) {
                *members = masked;
            }
        });
    }

    fn change(&self, change: impl FnOnce(&Masker, &mut Tally, &mut Vec<Unmasked>)) {
        if !self.is_armed() {
            return;
        }
        let (mut tally, mut unmasked) = (Tally::default(), Vec::new());
        change(&self.masker().0, &mut tally, &mut unmasked);
        self.count(tally);
        if !unmasked.is_empty() {
            locked(&self.0.unmasked).extend(unmasked);
        }
    }

    /// A text that leaves in pieces.
    pub fn stream(&self) -> MaskedStream {
        MaskedStream {
            gate: self.clone(),
            stream: MaskStream::default(),
            version: 0,
        }
    }

    fn count(&self, tally: Tally) {
        self.0.scanned.fetch_add(tally.scanned, Ordering::Relaxed);
        self.0.masked.fetch_add(tally.masked, Ordering::Relaxed);
    }

    /// The secrets that stood in a number so far, where they cannot be masked.
    pub fn unmasked(&self) -> Vec<Unmasked> {
        locked(&self.0.unmasked).iter().cloned().collect()
    }

    /// What the run did with secrets so far.
    pub fn receipt(&self) -> Receipt {
        Receipt {
            version: Receipt::VERSION,
            run: self.0.run.to_string(),
            entries: locked(&self.0.entries).clone(),
            bytes_scanned: self.0.scanned.load(Ordering::Relaxed),
            masked: self.0.masked.load(Ordering::Relaxed),
            unmasked: self
                .unmasked()
                .into_iter()
                .map(|unmasked| unmasked.secret.to_string())
                .collect(),
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.run).finish()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way of secrets into one call of one sink. What passes is on the run's receipt and masked from then on.
#[derive(Debug)]
pub struct Door<'g> {
    gate: &'g Gate,
    sink: Sink,
}

/// What a door does with a secret that is named and not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// The call is refused.
    Refused,
    /// `${NAME}` goes out as it is written.
    AsWritten,
}

/// Why a door stayed closed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DoorError {
    /// A secret is named that is not set.
    #[error(
        "the secret {0} is not set; set it with `easel secrets set {0}`, in .env or in the environment"
    )]
    NotSet(String),
    /// It cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl Door<'_> {
    /// The secret of that name, for the sink; `None` if it is not set.
    ///
    /// # Errors
    /// It cannot be had, or not be masked.
    pub fn secret(&self, name: &str) -> Result<Option<Opened>, SecretError> {
        match self.gate.0.resolver.find(name)? {
            Some(found) => self.pass(name, found.secret, &found.provider).map(Some),
            None => Ok(None),
        }
    }

    /// A credential that stands in the file, for the sink: it is treated as a secret called `place`.
    ///
    /// # Errors
    /// It cannot be masked.
    pub fn literal(&self, place: &str, value: &str) -> Result<Opened, SecretError> {
        self.pass(place, Secret::new(value), "file")
    }

    /// An argument with its secrets put in, for the sink.
    ///
    /// # Errors
    /// A secret is not set and must be, or cannot be had.
    pub fn open(&self, argument: &Argument, unset: Unset) -> Result<OpenedValue, DoorError> {
        let value = fill::filled(argument, &mut |name, text| {
            match (self.secret(name)?, unset) {
                (Some(opened), _) => text.push_str(opened.expose()),
                (None, Unset::AsWritten) => text.push_str(&format!("${{{name}}}")),
                (None, Unset::Refused) => return Err(DoorError::NotSet(name.to_owned())),
            }
            Ok(())
        })?;
        Ok(OpenedValue::of(value))
    }

    /// Masked from now on, and on the receipt.
    fn pass(&self, name: &str, secret: Secret, provider: &str) -> Result<Opened, SecretError> {
        self.gate.know(vec![(name.into(), secret.clone())])?;
        locked(&self.gate.0.entries).push(ReceiptEntry {
            secret: name.to_owned(),
            provider: provider.to_owned(),
            kind: self.sink.kind,
            sink: self.sink.name.to_string(),
            node: self.sink.node.to_string(),
            scope: self.sink.scope.to_string(),
            time: self.sink.time.0,
        });
        Ok(secret.open())
    }
}

/// A text that leaves a run in pieces: a [`MaskStream`] that learns the secrets its gate learns.
#[derive(Debug)]
pub struct MaskedStream {
    gate: Gate,
    stream: MaskStream,
    version: u64,
}

impl MaskedStream {
    /// Takes a piece in and gives what can go out.
    pub fn push<'t>(&mut self, piece: &'t str) -> Cow<'t, str> {
        if !self.gate.is_armed() {
            return Cow::Borrowed(piece);
        }
        let (masker, version) = self.gate.masker();
        if version != self.version {
            self.version = version;
            self.stream.know(masker);
        }
        let masked = self.stream.push(piece);
        self.gate.count(std::mem::take(&mut self.stream.tally));
        masked
    }

    /// Ends the text and gives what was held back.
    pub fn finish(&mut self) -> String {
        let rest = self.stream.finish();
        self.gate.count(std::mem::take(&mut self.stream.tally));
        rest
    }
}

#[cfg(test)]
mod tests;
