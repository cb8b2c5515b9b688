//! A server under load that is killed again and again: every message that was accepted is answered once, and nothing is
//! done twice outside.

mod client;
mod http;
mod outside;
mod served;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use easel_runtime::{Journal, Standing};
use easel_store::{Location, RunFilter, Store};

use client::{Client, Kind, Sent};
use outside::Outside;
use served::Served;

/// Conversations at once.
const CLIENTS: u64 = 32;

/// Kills, unless `EASEL_TEST_KILLS` says otherwise.
const KILLS: u64 = 8;

#[test]
fn a_server_that_is_killed_under_load_answers_every_message_once() {
    let kills = std::env::var("EASEL_TEST_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let outside = Outside::start();
    let mut served = Served::start(&outside);
    let agents = Kind::ALL.map(|kind| (kind, served.agent(kind, &outside)));
    let done = AtomicBool::new(false);
    let began = Instant::now();
    let sent: Vec<Sent> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = Client::new(number, served.address(), &agents, &outside);
                let done = &done;
                scope.spawn(move || client.talk_until(done))
            })
            .collect();
        let mut chance = http::Chance::new(7);
        for _ in 0..kills {
            std::thread::sleep(Duration::from_millis(150 + chance.below(900)));
            served.kill_and_start();
        }
        std::thread::sleep(Duration::from_millis(500));
        done.store(true, Ordering::SeqCst);
        let sent = clients.into_iter().map(|client| client.join().unwrap());
        sent.flatten().collect()
    });
    served.kill();
    eprintln!(
        "{} messages, {kills} kills, {} uncertain writes, {} cancelled, {:.1} s",
        sent.len(),
        sent.iter().map(|sent| sent.decided).sum::<usize>(),
        sent.iter().filter(|sent| sent.state == "cancelled").count(),
        began.elapsed().as_secs_f64()
    );
    assert!(sent.len() as u64 > CLIENTS, "there was load");
    for sent in &sent {
        let made = outside.effects(&sent.text);
        match &*sent.state {
            "finished" => assert_eq!(made, sent.kind.effects(), "{sent:?}"),
            "cancelled" => assert!(made <= sent.kind.effects(), "{made}: {sent:?}"),
            other => panic!("{other}: {sent:?}"),
        }
    }
    outside.nothing_was_sent_twice_to_a_target_that_does_not_know_keys();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all_is_readable(served.data(), &sent));
}

/// What the store has fits together, and with what the clients were told.
async fn all_is_readable(folder: std::path::PathBuf, sent: &[Sent]) {
    let store = Store::open(&Location::Folder(folder)).await.unwrap();
    let mut runs = HashMap::new();
    let mut filter = RunFilter {
        limit: 100,
        ..RunFilter::default()
    };
    loop {
        let page = store.runs(&filter).await.unwrap();
        for run in page.items {
            let record = store.run(&run.id).await.unwrap().unwrap();
            let journal = store.read(&run.id).await.unwrap();
            assert_eq!(journal.len() as u64, record.entries);
            store.notes(&run.id).await.unwrap();
            assert!(record.standing.is_over(), "{:?}", record.standing);
            runs.insert(run.id.to_string(), record.standing);
        }
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(runs.len(), sent.len(), "one run for each message");
    let mut sessions: HashMap<&str, Vec<&Sent>> = HashMap::new();
    for sent in sent {
        sessions.entry(&sent.session).or_default().push(sent);
    }
    for (session, messages) in sessions {
        let (conversation, said) = store.conversation(session).await.unwrap().unwrap();
        assert_eq!(conversation.run, None);
        let asked = said.iter().filter(|said| &*said.entry.role == "user");
        let asked = asked
            .map(|said| said.entry.text())
            .filter(|text| !text.starts_with("x: "));
        let asked: Vec<String> = asked.map(|text| text.to_string()).collect();
        let wanted: Vec<String> = messages.iter().map(|sent| sent.text.clone()).collect();
        assert_eq!(asked, wanted, "each once, in order");
        for sent in messages {
            let answers = said.iter().filter(|said| {
                *said.run == *sent.run && &*said.entry.role == "assistant" && !said.entry.interim
            });
            let finished = matches!(runs[&sent.run], Standing::Finished { .. });
            assert_eq!(answers.count(), usize::from(finished), "{sent:?}");
        }
    }
    store.close().await;
}
