//! A secret goes into a record: on its own, and as part of what is recorded.

#[derive(serde::Serialize)]
struct Record {
    key: easel_secrets::Secret,
}

fn record(secret: &easel_secrets::Secret) -> String {
    serde_json::to_string(secret).unwrap_or_default()
}

fn main() {}
