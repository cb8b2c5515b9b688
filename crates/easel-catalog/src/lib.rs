//! What each component takes and gives, as data.
