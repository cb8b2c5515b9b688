//! One side of a comparison with other engines: `benches/peers/compare.py` says how much to run and hears how long it took.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::ffi::OsString;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::time::Instant;

use crate::commits::Commits;
use crate::durable::Durable;

/// With this argument, the name of a side and a folder behind it, the program reads lines `RUNS NODES` and writes seconds.
pub const SIDE: &str = "--side";

/// See [`SIDE`].
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Result<(), Box<dyn Error>> {
    let (Some(name), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("--side takes a name, `floor` or `easel`, and a folder".into());
    };
    let folder = Path::new(&folder);
    match name.to_str() {
        Some("floor") => {
            let mut commits = Commits::open(folder)?;
            answer(move |runs, nodes| Ok(commits.many(runs, nodes)?))
        }
        Some("easel") => {
            let durable = Durable::open(folder)?;
            let mut chains = HashMap::new();
            answer(move |runs, nodes| {
                let chain = match chains.entry(nodes) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(durable.chain(nodes)?),
                };
                durable.many(chain, runs);
                Ok(())
            })
        }
        _ => Err(format!("there is no side {}", name.display()).into()),
    }
}

fn answer(
    mut run: impl FnMut(usize, usize) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut answers = stdout().lock();
    writeln!(answers, "ready")?;
    for line in stdin().lock().lines() {
        let line = line?;
        let (runs, nodes) = line.split_once(' ').ok_or("a line is RUNS NODES")?;
        let (runs, nodes) = (runs.parse()?, nodes.trim().parse()?);
        let start = Instant::now();
        run(runs, nodes)?;
        writeln!(answers, "{}", start.elapsed().as_secs_f64())?;
    }
    Ok(())
}
