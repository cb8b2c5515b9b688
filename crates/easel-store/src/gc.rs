//! Tidying up: runs that nobody needs any more, and what only they held.

use crate::error::StoreError;
use crate::runs::{AT_ONCE, Deleted};
use crate::sql::{Bound, Statement};
use crate::store::Store;

/// What is to be tidied up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcPlan {
    /// Runs that are over and changed last before this go, in milliseconds since 1970.
    pub before: i64,
    /// Only those in these states, of `finished`, `failed`, `cancelled`; empty means all three.
    pub states: Vec<String>,
    /// Only those of this owner.
    pub owner: Option<String>,
    /// So many of the newest runs of each agent stay whatever their age.
    pub keep: u64,
    /// Only count.
    pub dry: bool,
}

/// What was tidied up, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcCounts {
    /// Runs with their journals.
    pub runs: u64,
    /// Big values that nobody held any more; unknown, and 0, of a plan that only counts.
    pub values: u64,
    /// Documents that no agent, version, session or run names any more.
    pub documents: u64,
}

/// States of runs that are over.
const OVER: [&str; 3] = ["finished", "failed", "cancelled"];

/// Documents that nothing refers to. One that was just put there may be about to be named.
const UNUSED: &str = " FROM documents WHERE created < $1 \
                      AND hash NOT IN (SELECT document FROM agents) \
                      AND hash NOT IN (SELECT document FROM versions) \
                      AND hash NOT IN (SELECT document FROM sessions) \
                      AND hash NOT IN (SELECT document FROM runs)";

impl GcPlan {
    /// Writes the runs that go, behind `SELECT …`.
    fn narrow(&self, select: &mut Statement) {
        select.push(" FROM runs WHERE state IN ");
        match self.states.as_slice() {
            [] => select.values(OVER),
            // What is not over stays, whatever is asked for.
            states => {
                let over = states.iter().filter(|state| OVER.contains(&state.as_str()));
                let over: Vec<Bound> = over.map(Bound::from).collect();
                match over.is_empty() {
                    true => select.push("(NULL)"),
                    false => select.values(over),
                }
            }
        };
        select.push(" AND updated < ").value(self.before);
        if let Some(owner) = &self.owner {
            select.push(" AND owner = ").value(owner);
        }
        if self.keep > 0 {
            select.push(
                " AND (SELECT count(*) FROM (SELECT 1 FROM runs AS newer WHERE newer.agent = runs.agent \
                 AND (newer.created, newer.number) > (runs.created, runs.number) LIMIT ",
            );
            select
                .value(self.keep)
                .push(") AS ahead) >= ")
                .value(self.keep);
        }
    }
}

impl Store {
    /// Tidies up. It takes several transactions, and others write in between.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be done to the end.
    pub async fn gc(&self, plan: &GcPlan) -> Result<GcCounts, StoreError> {
        let mut counts = GcCounts::default();
        if plan.dry {
            let mut select = Statement::new("SELECT count(*) AS n").scanning();
            plan.narrow(&mut select);
            counts.runs = self.number(select).await?;
            let mut select = Statement::new("SELECT count(*) AS n").scanning();
            select.push(UNUSED);
            counts.documents = self.number(select.with(plan.before)).await?;
            return Ok(counts);
        }
        // Where the last ones were: what stays is not looked at again.
        let mut behind = (i64::MIN, 0);
        loop {
            let mut select = Statement::new("SELECT id, created, number").scanning();
            plan.narrow(&mut select);
            select.push(" AND (created, number) > (").value(behind.0);
            select.push(", ").value(behind.1);
            select
                .push(") ORDER BY created, number LIMIT ")
                .value(AT_ONCE as i64);
            let rows = self.rows(select).await?;
            let ids = rows.iter().map(|row| row.text("id"));
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            let Some(last) = rows.last() else {
                break;
            };
            behind = (last.int("created")?, last.int("number")?);
            let Deleted { runs, values } = self.delete_runs(ids).await?;
            counts.runs += runs;
            counts.values += values;
        }
        let before = plan.before;
        counts.documents = self
            .write(move |connection| {
                let mut delete = Statement::new("DELETE");
                delete.push(UNUSED);
                let delete = delete.with(before);
                Box::pin(async move { connection.execute(delete).await })
            })
            .await?;
        Ok(counts)
    }

    async fn number(&self, select: Statement) -> Result<u64, StoreError> {
        let row = self.row(select).await?;
        row.map_or(Ok(0), |row| row.count("n"))
    }
}
