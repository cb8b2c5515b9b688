//! How many batches a second a store commits: `cargo run --release -p easel-store --example group_commit [WHERE] [RUNS] [BATCHES]`.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use easel_runtime::core::bind::Activation;
use easel_runtime::core::event::{Completion, Event, Fact, Ports, Start, Timestamp};
use easel_runtime::{Batch, Journal, JournalError, Origin};
use easel_store::{Location, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments
        .next()
        .unwrap_or_else(|| "target/group-commit".to_owned());
    let runs: u64 = arguments.next().map_or(Ok(1_000), |n| n.parse())?;
    let batches: u64 = arguments.next().map_or(Ok(100), |n| n.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let store = Store::open(&Location::parse(&place)).await?;
        let one = measure(&store, "alone", 1, batches).await?;
        let many = measure(&store, "many", runs, batches).await?;
        println!("one run: {one:.0} batches a second");
        println!("{runs} runs: {many:.0} batches a second");
        println!("{:?}", store.commits());
        store.close().await;
        Ok(())
    })
}

/// Batches a second of that many runs at once.
async fn measure(
    store: &Store,
    name: &str,
    runs: u64,
    batches: u64,
) -> Result<f64, Box<dyn Error>> {
    let running: Vec<_> = (0..runs)
        .map(|n| {
            let store = store.clone();
            let run: Arc<str> = format!("{name} {n} of {}", store.worker()).into();
            async move {
                let mut first = Batch::new(run.clone(), 0, vec![started(&run)]);
                first.origin = Some(Arc::new(Origin::default()));
                store.append(first).await?;
                Ok::<_, JournalError>((store, run))
            }
        })
        .collect();
    let mut ready = Vec::new();
    for run in futures::future::join_all(running).await {
        ready.push(run?);
    }
    let began = Instant::now();
    let tasks: Vec<_> = ready
        .into_iter()
        .map(|(store, run)| {
            tokio::spawn(async move {
                for place in 1..=batches {
                    store
                        .append(Batch::new(run.clone(), place, vec![completed(place)]))
                        .await?;
                }
                Ok::<_, JournalError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok((runs * batches) as f64 / began.elapsed().as_secs_f64())
}

fn started(run: &Arc<str>) -> Event {
    let start = Start {
        run: run.clone(),
        ..Start::default()
    };
    Event::new(Timestamp(0), Fact::Started(start))
}

/// What a node of a usual size gives.
fn completed(n: u64) -> Event {
    let completion = Completion {
        ports: Ports::one(
            "content",
            "What a node says is a sentence or two, as a rule, and now and then a page.",
        ),
        ..Completion::default()
    };
    let fact = Fact::Completed {
        activation: Activation(n),
        attempt: 1,
        completion,
    };
    Event::new(Timestamp(1_700_000_000_000), fact)
}
