//! Asking language models: what LLM, Agent, Categorize and others that ask have in common.

pub(crate) mod ask;
pub(crate) mod cite;
pub(crate) mod fit;
pub(crate) mod lenient;
pub(crate) mod llm;
pub(crate) mod prompt;
pub(crate) mod settings;
pub(crate) mod structured;
mod vision;

#[cfg(test)]
mod tests;
