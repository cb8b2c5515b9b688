//! A secret becomes a value, which templates, expressions and model requests are made of.

fn value(secret: easel_secrets::Secret) -> easel_core::Value {
    secret
}

fn opened(opened: easel_secrets::OpenedValue) -> easel_core::Value {
    opened
}

fn main() {}
