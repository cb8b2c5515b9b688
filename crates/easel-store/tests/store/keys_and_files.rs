//! API keys, files and documents.

use std::time::Duration;

use easel_store::{Dialect, NewFile, NewKey, PageNumber, StoreError};

use crate::bench::{Bench, both, count};

both! {
    async fn a_key_opens_until_it_is_revoked(bench) {
        let new = NewKey { owner: "me".into(), name: "ci".into(), scopes: vec!["runs:read".into(), "agents:*".into()], expires: None };
        let (key, secret) = bench.create_key(new).await.unwrap();
        assert!(secret.reveal().starts_with("easel_") && secret.reveal().len() > 40);
        assert!(secret.reveal().starts_with(&*key.prefix) && key.prefix.len() == 12);
        assert!(!format!("{secret:?} {key:?}").contains(secret.reveal()));
        let found = bench.other().await.key_by_secret(secret.reveal()).await.unwrap().unwrap();
        assert_eq!(found, key);
        // That it was used is written down soon.
        let mut used = None;
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            used = bench.keys(Some("me")).await.unwrap()[0].used;
            if used.is_some() {
                break;
            }
        }
        assert!(used.unwrap() >= key.created);
        assert!(bench.key_by_secret(&secret.reveal()[..40]).await.unwrap().is_none());
        assert!(bench.key_by_secret("easel_").await.unwrap().is_none());
        assert!(bench.key_by_secret("").await.unwrap().is_none());
        assert!(bench.revoke_key(&key.id).await.unwrap());
        assert!(!bench.revoke_key(&key.id).await.unwrap());
        assert!(bench.key_by_secret(secret.reveal()).await.unwrap().is_none());
        assert!(bench.keys(Some("me")).await.unwrap()[0].revoked.is_some());
        assert!(bench.keys(Some("you")).await.unwrap().is_empty());
        assert_eq!(bench.keys(None).await.unwrap().len(), 1);
    }

    async fn a_key_that_is_over_opens_nothing(bench) {
        let (_, over) = bench.create_key(NewKey { expires: Some(1), ..NewKey::default() }).await.unwrap();
        let (_, fresh) = bench.create_key(NewKey { expires: Some(i64::MAX), ..NewKey::default() }).await.unwrap();
        assert!(bench.key_by_secret(over.reveal()).await.unwrap().is_none());
        assert!(bench.key_by_secret(fresh.reveal()).await.unwrap().is_some());
        assert_ne!(over.reveal(), fresh.reveal());
    }

    async fn a_file_comes_back_to_the_byte_and_the_same_bytes_are_kept_once(bench) {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) % 251) as u8).collect();
        let new = NewFile { owner: "me".into(), session: None, name: "../a\0.bin".into(), mime: "x/y".into() };
        let one = bench.put_file(new.clone(), bytes.clone(), 100_000).await.unwrap();
        let two = bench.put_file(NewFile { owner: "you".into(), ..new.clone() }, bytes.clone(), 100_000).await.unwrap();
        assert_eq!(count(&bench, "held").await, 1);
        assert_eq!(bench.file_bytes(&one.id).await.unwrap(), Some(bytes.clone()));
        let record = bench.file(&one.id).await.unwrap().unwrap();
        assert_eq!((&*record.owner, record.size, &*record.mime), ("me", 100_000, "x/y"));
        let listed = bench.files("me", PageNumber::default()).await.unwrap();
        assert_eq!((listed.total, &listed.items[0].id), (1, &one.id));
        assert!(bench.delete_file(&one.id).await.unwrap());
        assert!(!bench.delete_file(&one.id).await.unwrap());
        assert!(bench.file_bytes(&one.id).await.unwrap().is_none());
        assert_eq!(bench.file_bytes(&two.id).await.unwrap(), Some(bytes.clone()));
        let large = bench.put_file(new.clone(), bytes, 99_999).await;
        assert!(matches!(large, Err(StoreError::TooLarge { size: 100_000, limit: 99_999, .. })));
        let empty = bench.put_file(new, Vec::new(), 0).await.unwrap();
        assert_eq!(bench.file_bytes(&empty.id).await.unwrap(), Some(Vec::new()));
    }

    async fn a_file_that_is_made_again_takes_the_place_of_the_first(bench) {
        let new = NewFile { owner: "me".into(), session: None, name: "a.pdf".into(), mime: "application/pdf".into() };
        let first = bench.put_file_as("made", new.clone(), vec![1; 1_000], 1_000).await.unwrap();
        let again = bench.put_file_as("made", NewFile { name: "b.pdf".into(), ..new.clone() }, vec![2; 900], 1_000).await.unwrap();
        assert_eq!((&*first.id, &*again.id), ("made", "made"));
        assert_eq!(bench.file_bytes("made").await.unwrap(), Some(vec![2; 900]));
        let listed = bench.files("me", PageNumber::default()).await.unwrap();
        assert_eq!((listed.total, &*listed.items[0].name, listed.items[0].size), (1, "b.pdf", 900));
        assert_eq!(count(&bench, "held").await, 1, "the bytes of the first are gone");
        bench.put_file_as("made", new, vec![2; 900], 1_000).await.unwrap();
        assert_eq!(bench.file_bytes("made").await.unwrap(), Some(vec![2; 900]), "the same bytes stay");
        assert!(bench.delete_file("made").await.unwrap());
        assert_eq!(count(&bench, "held").await, 0);
    }

    async fn a_document_is_found_by_its_hash(bench) {
        let text = "{\"components\": {}}".repeat(1_000).into_bytes();
        let hash = bench.put_document(Dialect::Canvas, text.clone()).await.unwrap();
        assert_eq!(bench.put_document(Dialect::Canvas, text.clone()).await.unwrap(), hash);
        assert_eq!(count(&bench, "documents").await, 1);
        let document = bench.document(&hash).await.unwrap().unwrap();
        assert_eq!((document.bytes, document.dialect, document.hash), (text, Dialect::Canvas, hash));
        let graph = bench.put_document(Dialect::Graph, vec![0, 159, 146, 150]).await.unwrap();
        assert_eq!(bench.document(&graph).await.unwrap().unwrap().dialect, Dialect::Graph);
        assert!(bench.document("nothing").await.unwrap().is_none());
    }
}
