//! A message that begins anew, for clients that can take nothing back: what repeats what was shown is held back, and what
//! goes on behind it is passed on.

/// What was shown of a message, and what it says since it began anew.
#[derive(Debug)]
pub(crate) struct Retold<T> {
    shown: Vec<T>,
    /// As long as it repeats what was shown.
    again: Option<Vec<T>>,
}

/// What becomes of a piece.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<T> {
    /// It is passed on as it is.
    New,
    /// The client has it already.
    Repeats,
    /// Of all that was held back, the client lacks this.
    Continues(Vec<T>),
    /// The message says something else now, and this is all of it.
    Differs(Vec<T>),
}

impl<T> Default for Retold<T> {
    fn default() -> Retold<T> {
        Retold {
            shown: Vec::new(),
            again: None,
        }
    }
}

impl<T: Clone + PartialEq> Retold<T> {
    /// Takes in a piece of the message.
    pub fn piece(&mut self, piece: impl IntoIterator<Item = T>) -> Piece<T> {
        let Some(again) = &mut self.again else {
            self.shown.extend(piece);
            return Piece::New;
        };
        again.extend(piece);
        if self.shown.starts_with(again) {
            if self.shown.len() == again.len() {
                self.again = None;
            }
            return Piece::Repeats;
        }
        let again = std::mem::take(again);
        self.again = None;
        let shown = std::mem::replace(&mut self.shown, again.clone());
        match again.strip_prefix(shown.as_slice()) {
            Some(rest) => Piece::Continues(rest.to_vec()),
            None => Piece::Differs(again),
        }
    }

    /// The message begins anew.
    pub fn reset(&mut self) {
        if !self.shown.is_empty() {
            self.again = Some(Vec::new());
        }
    }

    /// Whether what comes is held back for now.
    pub fn repeats(&self) -> bool {
        self.again.is_some()
    }

    /// The message is whole. Gives all of it if it came out shorter than what was shown.
    pub fn end(&mut self) -> Option<Vec<T>> {
        std::mem::take(self).again
    }
}
