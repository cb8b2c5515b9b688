//! Models over HTTP, against a server in this process that says exactly what a test wants, piece by piece.
#![expect(clippy::unwrap_used, reason = "what helps tests may fail as tests do")]

mod anthropic;
mod faults;
mod gemini;
mod ollama;
mod openai;
mod retries;
mod server;
