use super::*;

const VALUE: &str = "sk-live-1234567890";

struct Place {
    folder: tempfile::TempDir,
    vault: Vault,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::new(folder.path().join("vault"), folder.path().join("vault.key"));
    Place { folder, vault }
}

fn with_one() -> Place {
    let place = place();
    let secret = Secret::new(VALUE);
    place.vault.set("TOKEN", &secret, Timestamp(7)).unwrap();
    place
}

fn get(vault: &Vault, name: &str) -> Option<String> {
    let secret = vault.get(name).unwrap();
    secret.map(|secret| secret.value().to_owned())
}

#[test]
fn a_secret_that_was_set_is_found_again() {
    let place = with_one();
    assert_eq!(get(&place.vault, "TOKEN").as_deref(), Some(VALUE));
    assert_eq!(get(&place.vault, "token"), None);
    place
        .vault
        .set("PIN", &Secret::new("1234"), Timestamp(9))
        .unwrap();
    let listed = |name: &str, set, masked| Listed {
        name: name.to_owned(),
        set: Timestamp(set),
        masked,
    };
    assert_eq!(
        place.vault.list().unwrap(),
        [listed("PIN", 9, false), listed("TOKEN", 7, true)]
    );
    assert!(place.vault.remove("PIN").unwrap());
    assert!(!place.vault.remove("PIN").unwrap());
    assert_eq!(get(&place.vault, "PIN"), None);
    assert_eq!(get(&place.vault, "TOKEN").as_deref(), Some(VALUE));
}

#[test]
fn a_vault_that_is_not_there_is_empty_and_makes_no_files() {
    let place = place();
    assert!(place.vault.list().unwrap().is_empty());
    assert_eq!(get(&place.vault, "TOKEN"), None);
    assert_eq!(std::fs::read_dir(place.folder.path()).unwrap().count(), 0);
}

#[test]
fn neither_names_nor_values_are_in_the_file() {
    let place = with_one();
    for file in std::fs::read_dir(place.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for hidden in [VALUE, "TOKEN"] {
            let seen = bytes
                .windows(hidden.len())
                .any(|seen| seen == hidden.as_bytes());
            assert!(!seen, "{hidden}");
        }
    }
}

#[test]
fn the_same_secret_is_never_written_the_same_way_twice() {
    let place = with_one();
    let first = std::fs::read(place.vault.path()).unwrap();
    let secret = Secret::new(VALUE);
    place.vault.set("TOKEN", &secret, Timestamp(7)).unwrap();
    let second = std::fs::read(place.vault.path()).unwrap();
    assert_eq!(first.len(), second.len());
    assert_ne!(first[HEADER..], second[HEADER..]);
}

#[test]
fn any_byte_that_is_changed_is_noticed() {
    let place = with_one();
    let whole = std::fs::read(place.vault.path()).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(place.vault.path(), &changed).unwrap();
        let error = place.vault.get("TOKEN").unwrap_err();
        let told = error.to_string();
        assert!(
            matches!(
                error,
                SecretError::Damaged { .. } | SecretError::OtherKey { .. }
            ),
            "byte {at}: {told}"
        );
        assert!(
            told.contains(&place.vault.path().display().to_string()),
            "{told}"
        );
    }
}

#[test]
fn a_vault_that_was_cut_short_is_an_error_and_not_overwritten() {
    let place = with_one();
    let whole = std::fs::read(place.vault.path()).unwrap();
    for length in 0..whole.len() {
        std::fs::write(place.vault.path(), &whole[..length]).unwrap();
        let secret = Secret::new("another value");
        let set = place.vault.set("OTHER", &secret, Timestamp(0));
        assert!(matches!(set, Err(SecretError::Damaged { .. })), "{length}");
        assert_eq!(std::fs::read(place.vault.path()).unwrap(), whole[..length]);
    }
}

#[test]
fn another_key_is_told_from_damage() {
    let place = with_one();
    let other = Vault::with_key(place.vault.path(), Key::draw().unwrap(), "EASEL_VAULT_KEY");
    let told = other.list().unwrap_err().to_string();
    assert!(told.contains("another key"), "{told}");
    assert!(told.contains("EASEL_VAULT_KEY"), "{told}");
}

#[test]
fn a_key_that_is_gone_is_not_replaced_by_a_new_one() {
    let place = with_one();
    let key = place.folder.path().join("vault.key");
    std::fs::remove_file(&key).unwrap();
    let secret = Secret::new(VALUE);
    let set = place.vault.set("OTHER", &secret, Timestamp(0));
    assert!(matches!(set, Err(SecretError::KeyMissing { .. })));
    assert!(!key.exists());
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let place = place();
    let set = |name: &str, value: &str| place.vault.set(name, &Secret::new(value), Timestamp(0));
    for name in ["", "1A", "A-B", "A B", "Ä", "../A"] {
        assert!(matches!(set(name, VALUE), Err(SecretError::BadName(_))));
    }
    assert!(matches!(set("A", " \n"), Err(SecretError::Blank(_))));
    assert!(!place.vault.path().exists());
}

#[test]
fn programs_that_set_secrets_at_once_lose_none() {
    let place = place();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let vault = &place.vault;
            scope.spawn(move || {
                let secret = Secret::new(format!("value-{n}"));
                vault.set(&format!("S{n}"), &secret, Timestamp(n)).unwrap();
            });
        }
    });
    assert_eq!(place.vault.list().unwrap().len(), 8);
}
