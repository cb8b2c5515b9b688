//! A secret is written to a log.

fn log(secret: &easel_secrets::Secret) {
    println!("the key is {secret}");
}

fn main() {}
