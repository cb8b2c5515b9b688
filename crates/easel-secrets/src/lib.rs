//! Secrets that reach the tool and never the model.
//!
//! A [`Secret`] cannot be printed, serialised or compared by accident: its value comes out through
//! [`Secret::expose`] alone, at the place where it is used. A [`Provider`] is where values live; they are fetched when
//! they are needed. A [`Masker`] takes the values out of any text on its way out, also in the forms in which they travel.

mod mask;
mod provider;
mod secret;

pub use mask::{MASK, Masker, TooManySecrets};
pub use provider::{Environment, Provider};
pub use secret::Secret;
