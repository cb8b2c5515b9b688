//! Long-term memories.

use std::collections::BTreeMap;

use easel_store::{MEMORY_EXCHANGES, MEMORY_TEXT, MemoryFilter, MemoryOf, NewExchange, StoreError};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::bench::{Bench, both};

fn of(user: &str, memory: &str) -> MemoryOf {
    MemoryOf {
        owner: "ada".into(),
        agent: "agent".into(),
        user: user.into(),
        session: "talk".into(),
        memory: memory.into(),
    }
}

fn said(key: &str) -> NewExchange {
    NewExchange {
        key: key.into(),
        user_input: format!("question {key}"),
        agent_response: format!("answer {key}"),
    }
}

/// What users said in a memory, the newest first.
async fn inputs(bench: &Bench, of: &MemoryOf) -> Vec<String> {
    let exchanges = bench.memory(of).await.unwrap();
    exchanges.iter().map(|e| e.user_input.to_string()).collect()
}

/// Names that are alike, or that a query could take for something else.
fn name() -> impl Strategy<Value = String> {
    const NAMES: [&str; 9] = ["a", "A", "", "a b", "%", "' OR 1=1 --", "ä", "a_", "_a"];
    proptest::sample::select(NAMES.as_slice()).prop_map(str::to_owned)
}

fn whose() -> impl Strategy<Value = MemoryOf> {
    (name(), name(), name(), name(), name()).prop_map(|(owner, agent, user, session, memory)| {
        MemoryOf {
            owner,
            agent,
            user,
            session,
            memory,
        }
    })
}

/// By what a memory is one: the conversation counts where nobody knows the user.
fn identity(of: &MemoryOf) -> [String; 5] {
    let of = of.clone();
    let session = match of.user.is_empty() {
        true => of.session,
        false => String::new(),
    };
    [of.owner, of.agent, of.user, session, of.memory]
}

both! {
    async fn an_exchange_is_found_in_a_later_conversation_and_kept_once(bench) {
        let first = of("u1", "facts");
        bench.remember(first.clone(), said("1")).await.unwrap();
        bench.remember(first.clone(), said("2")).await.unwrap();
        // The same attempt once more, as after a crash.
        bench.remember(first.clone(), said("1")).await.unwrap();
        let later = MemoryOf { session: "another talk".into(), ..first };
        assert_eq!(inputs(&bench, &later).await, ["question 2", "question 1"]);
        let other = bench.other().await;
        let kept = other.memory(&later).await.unwrap();
        assert_eq!((&*kept[0].agent_response, &*kept[0].session), ("answer 2", "talk"));
    }

    async fn who_is_unknown_is_remembered_within_the_conversation_only(bench) {
        bench.remember(of("", "facts"), said("1")).await.unwrap();
        assert_eq!(inputs(&bench, &of("", "facts")).await, ["question 1"]);
        let elsewhere = MemoryOf { session: "another talk".into(), ..of("", "facts") };
        assert!(inputs(&bench, &elsewhere).await.is_empty());
    }

    /// A property: whatever was saved by whom, each finds all of their own and nothing of anybody else's.
    async fn nothing_is_ever_shared_between_owners_agents_users_and_memories(bench) {
        let mut runner = TestRunner::deterministic();
        let saves = proptest::collection::vec(whose(), 120).new_tree(&mut runner).unwrap().current();
        let mut expected: BTreeMap<[String; 5], Vec<String>> = BTreeMap::new();
        for (n, whose) in saves.iter().enumerate() {
            let key = n.to_string();
            bench.remember(whose.clone(), said(&key)).await.unwrap();
            expected.entry(identity(whose)).or_default().insert(0, format!("question {key}"));
        }
        let asked = proptest::collection::vec(whose(), 120).new_tree(&mut runner).unwrap().current();
        for whose in asked.iter().chain(&saves) {
            let expected = expected.get(&identity(whose)).cloned().unwrap_or_default();
            assert_eq!(inputs(&bench, whose).await, expected, "{whose:?}");
        }
        assert!(expected.len() > 50);
    }

    async fn a_memory_keeps_the_newest_thousand_and_the_beginnings_of_long_texts(bench) {
        let saving = (0..MEMORY_EXCHANGES + 3)
            .map(|n| bench.remember(of("u1", "facts"), said(&n.to_string())));
        for saved in futures::future::join_all(saving).await {
            saved.unwrap();
        }
        bench.remember(of("u2", "facts"), said("other")).await.unwrap();
        let kept = inputs(&bench, &of("u1", "facts")).await;
        assert_eq!(kept.len() as u64, MEMORY_EXCHANGES);
        assert_eq!(kept.first().unwrap(), &format!("question {}", MEMORY_EXCHANGES + 2));
        assert_eq!(kept.last().unwrap(), "question 3");
        let long = NewExchange {
            key: "long".into(),
            user_input: "ä".repeat(MEMORY_TEXT + 1),
            agent_response: "a\0b".into(),
        };
        bench.remember(of("u3", "facts"), long).await.unwrap();
        let kept = bench.memory(&of("u3", "facts")).await.unwrap();
        assert_eq!(kept[0].user_input.chars().count(), MEMORY_TEXT);
        assert_eq!(&*kept[0].agent_response, "a\u{fffd}b");
    }

    async fn exchanges_are_listed_page_by_page_and_deleted(bench) {
        for n in 0..5 {
            bench.remember(of("u1", "facts"), said(&n.to_string())).await.unwrap();
        }
        bench.remember(of("u2", "facts"), said("x")).await.unwrap();
        let filter = MemoryFilter { owner: Some("ada".into()), user: Some("u1".into()), limit: 2, ..MemoryFilter::default() };
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = bench.exchanges(&MemoryFilter { cursor, ..filter.clone() }).await.unwrap();
            assert!(page.items.len() <= 2);
            seen.extend(page.items.iter().map(|e| e.user_input.to_string()));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["question 4", "question 3", "question 2", "question 1", "question 0"]);
        let odd = MemoryFilter { cursor: Some("odd".into()), ..filter.clone() };
        assert!(matches!(bench.exchanges(&odd).await, Err(StoreError::Cursor(_))));
        let other = MemoryFilter { owner: Some("eve".into()), ..filter.clone() };
        assert!(bench.exchanges(&other).await.unwrap().items.is_empty());
        assert_eq!(bench.forget_all(&other).await.unwrap(), 0);
        let one = bench.exchanges(&filter).await.unwrap().items[0].clone();
        assert_eq!(bench.exchange(&one.id).await.unwrap(), Some(one.clone()));
        assert!(bench.forget(&one.id).await.unwrap());
        assert!(!bench.forget(&one.id).await.unwrap());
        assert_eq!(bench.exchange(&one.id).await.unwrap(), None);
        assert_eq!(bench.forget_all(&filter).await.unwrap(), 4);
        assert_eq!(inputs(&bench, &of("u2", "facts")).await, ["question x"]);
    }

    async fn memories_go_with_their_agent(bench) {
        bench.remember(of("u1", "facts"), said("1")).await.unwrap();
        let another = MemoryOf { agent: "another".into(), ..of("u1", "facts") };
        bench.remember(another.clone(), said("2")).await.unwrap();
        bench.delete_agent("agent", false).await.unwrap();
        assert!(inputs(&bench, &of("u1", "facts")).await.is_empty());
        assert_eq!(inputs(&bench, &another).await, ["question 2"]);
        bench.delete_agent("another", true).await.unwrap();
        assert_eq!(inputs(&bench, &another).await, ["question 2"]);
    }
}
