//! A secret is read where no door is.

fn read(secret: &easel_secrets::Secret) -> &str {
    secret.expose()
}

fn main() {}
