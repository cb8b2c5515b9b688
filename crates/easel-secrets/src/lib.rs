//! Secrets that reach the tool and never the model.
