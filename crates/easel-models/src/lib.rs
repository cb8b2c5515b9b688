//! One door to language models.
