//! The behaviour of every kind of component.
