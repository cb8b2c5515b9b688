//! What a door opened is printed or recorded beside the call.

fn log(opened: &easel_secrets::Opened, value: &easel_secrets::OpenedValue) {
    println!("called with {opened} and {value}");
    let _ = serde_json::to_string(opened);
}

fn main() {}
