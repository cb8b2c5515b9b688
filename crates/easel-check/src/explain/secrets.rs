//! Keys, passwords and where they stand.

use crate::code::{
    Dialect::{Both, Canvas},
    Rule,
};
use crate::diagnostic::Severity::Warning;

pub(crate) const NO_CREDENTIALS: Rule = Rule {
    name: "no-credentials",
    severity: Warning,
    dialect: Canvas,
    title: "no key for the service",
    means: "A tool that speaks to a service with a key has none.",
    matters: "The service will refuse the call.",
    example: r#""TavilySearch:T": {"obj": {"component_name": "TavilySearch", "params": {"api_key": ""}}}"#,
    fix: "Write the name of a secret, such as `${TAVILY_API_KEY}`, and set it: `easel secrets set TAVILY_API_KEY`.",
};

pub(crate) const UNDECLARED_SECRET: Rule = Rule {
    name: "undeclared-secret",
    severity: Warning,
    dialect: Both,
    title: "no secret is put in here",
    means: "`${NAME}` stands for a secret in credentials, headers and arguments of tools. It stands in a text where no secret may go, or in a graph is not declared by its step, so it stays as it is written.",
    matters: "The text is shown or sent with `${NAME}` in it. A secret in a prompt would be seen by the model.",
    example: r#""sys_prompt": "Use the key ${TAVILY_API_KEY}.""#,
    fix: "Move it into the tool's own parameter, in a graph add the name to `secrets`; if the text itself is meant, leave it.",
};

pub(crate) const SECRET_NOT_SET: Rule = Rule {
    name: "secret-not-set",
    severity: Warning,
    dialect: Both,
    title: "the secret has no value",
    means: "`${NAME}` names a secret that is not set where this Easel looks for secrets.",
    matters: "The run fails when it reaches the node.",
    example: r#""params": {"api_key": "${TAVILY_API_KEY}"}      (and nobody has set TAVILY_API_KEY)"#,
    fix: "Set it under that name: with `easel secrets set NAME`, in .env or in the environment.",
};

pub(crate) const SECRET_IN_FILE: Rule = Rule {
    name: "secret-in-file",
    severity: Warning,
    dialect: Both,
    title: "a key stands in the file",
    means: "A text looks like a key, token or password, or a credential is written out in full.",
    matters: "Whoever gets the file has the key: by mail, in a repository, in an export. No masking of what a run writes helps against that.",
    example: r#""params": {"api_key": "tvly-0123456789abcdef0123456789abcdef"}"#,
    fix: "`easel import FILE` puts a credential into the vault and `${NAME}` in its place; replace any other key yourself. Have it withdrawn if others have seen the file.",
};
