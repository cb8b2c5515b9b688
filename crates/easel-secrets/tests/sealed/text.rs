//! A secret is put into the text of a prompt.

fn prompt(secret: easel_secrets::Secret) -> String {
    let mut prompt = String::from("Use the key ");
    prompt.push_str(&secret);
    prompt + &secret.to_string()
}

fn main() {}
