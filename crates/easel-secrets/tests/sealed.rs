//! What the types make impossible: none of these programs compiles. Each is a way in which a secret's value could get
//! into a prompt, a record or a log by mistake.

#[test]
fn a_secret_without_a_door_is_unreachable() {
    trybuild::TestCases::new().compile_fail("tests/sealed/*.rs");
}
