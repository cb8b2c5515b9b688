//! What Begin takes when an HTTP request starts runs (spec/canvas-engine §7).

use serde_json::json;

use crate::param::{Param, Type};

/// What a Begin in mode `Webhook` adds (spec/canvas-engine §7.1).
pub(super) fn params() -> Vec<Param> {
    let section = || {
        Type::open_object(vec![
            Param::new(
                "type",
                Type::Text,
                "The type of the section, always `object`.",
            ),
            Param::new(
                "properties",
                Type::map(Type::open_object(vec![Param::new(
                    "type",
                    Type::Text,
                    "`file`, `string`, `number`, `boolean`, `object` or `array<…>`: the type it is cast to.",
                )])),
                "The fields that are kept, by name, each with its type.",
            ),
            Param::new("required", Type::texts(), "The fields a request must have."),
        ])
    };
    vec![
        Param::new("methods", Type::texts(), "Webhook: the HTTP methods taken; empty takes all."),
        Param::new(
            "content_types",
            Type::Text,
            "Webhook: the content type a request must have, if it has one.",
        ),
        Param::new(
            "schema",
            Type::object(vec![
                Param::new("query", section(), "What is taken from the query."),
                Param::new("headers", section(), "What is taken from the headers."),
                Param::new("body", section(), "What is taken from the body."),
            ]),
            "Webhook: the parts of a request that become ports.",
        ),
        Param::new(
            "security",
            security(),
            "Webhook: who may call. Without it nobody may.",
        ),
        Param::new(
            "execution_mode",
            Type::choice(&["Immediately", "Streaming"]),
            "Webhook: `Immediately` answers at once and runs on; `Streaming` answers with the result.",
        )
        .default(json!("Immediately")),
        Param::new(
            "response",
            Type::object(vec![
                Param::new("status", Type::within(200, 399), "The HTTP status.").default(json!(200)),
                Param::new("body_template", Type::Text, "The body: JSON, or plain text.")
                    .default(json!("")),
            ]),
            "Webhook: the answer of `Immediately`.",
        ),
    ]
}

fn security() -> Type {
    Type::object(vec![
        Param::new(
            "auth_type",
            Type::choice(&["none", "token", "basic", "jwt"]),
            "How callers prove who they are.",
        )
        .default(json!("none")),
        Param::new(
            "allow_anonymous",
            Type::Boolean,
            "Has to be true for `none`, so that nothing is open by accident.",
        )
        .default(json!(false)),
        Param::new(
            "token",
            Type::object(vec![
                Param::new(
                    "token_header",
                    Type::Text,
                    "The header that carries the token.",
                ),
                Param::new("token_value", Type::Credential, "The token."),
            ]),
            "What `token` compares.",
        ),
        Param::new(
            "basic_auth",
            Type::object(vec![
                Param::new("username", Type::Text, "The user name.").secrets(),
                Param::new("password", Type::Credential, "The password."),
            ]),
            "What `basic` compares.",
        ),
        Param::new(
            "jwt",
            Type::object(vec![
                Param::new("secret", Type::Credential, "The key that signs the tokens."),
                Param::new("algorithm", Type::Text, "The signature's algorithm.")
                    .default(json!("HS256")),
                Param::new("audience", Type::Text, "The audience a token must name."),
                Param::new("issuer", Type::Text, "The issuer a token must name."),
                Param::new(
                    "required_claims",
                    Type::texts(),
                    "Further claims a token must have.",
                ),
            ]),
            "What `jwt` verifies.",
        ),
        Param::new(
            "ip_whitelist",
            Type::texts(),
            "Addresses or networks that may call; empty lets all.",
        ),
        Param::new(
            "rate_limit",
            Type::object(vec![
                Param::new("limit", Type::at_least(1), "How many calls.").default(json!(60)),
                Param::new(
                    "per",
                    Type::choice(&["second", "minute", "hour", "day"]),
                    "In which time.",
                )
                .default(json!("minute")),
            ]),
            "How often it may be called, by all callers together.",
        ),
        Param::new(
            "max_body_size",
            Type::Text,
            "The largest body taken, in `kb` or `mb`; 10 MB is the most.",
        )
        .default(json!("10MB")),
    ])
}
