//! Teams: owners who see each other's agents where these are shared.

use std::sync::Arc;

use crate::error::StoreError;
use crate::sql::Statement;
use crate::store::Store;

impl Store {
    /// Takes an owner into a team; false if they were in it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn join_team(&self, team: &str, owner: &str) -> Result<bool, StoreError> {
        let insert = "INSERT INTO members (team, owner) VALUES ($1, $2) ON CONFLICT (team, owner) DO NOTHING";
        self.change_members(insert, team, owner).await
    }

    /// Takes an owner out of a team; false if they were not in it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn leave_team(&self, team: &str, owner: &str) -> Result<bool, StoreError> {
        self.change_members(
            "DELETE FROM members WHERE team = $1 AND owner = $2",
            team,
            owner,
        )
        .await
    }

    /// The owners in a team, in the order of their names.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn team_members(&self, team: &str) -> Result<Vec<Arc<str>>, StoreError> {
        let select =
            Statement::new("SELECT owner AS name FROM members WHERE team = $1 ORDER BY owner");
        self.names(select.with(team)).await
    }

    /// The teams that an owner is in, in the order of their names.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn teams_of(&self, owner: &str) -> Result<Vec<Arc<str>>, StoreError> {
        let select =
            Statement::new("SELECT team AS name FROM members WHERE owner = $1 ORDER BY team");
        self.names(select.with(owner)).await
    }

    async fn change_members(
        &self,
        sql: &'static str,
        team: &str,
        owner: &str,
    ) -> Result<bool, StoreError> {
        let change = Statement::new(sql).with(team).with(owner);
        self.write(move |connection| {
            let change = change.clone();
            Box::pin(async move { Ok(connection.execute(change).await? > 0) })
        })
        .await
    }

    async fn names(&self, select: Statement) -> Result<Vec<Arc<str>>, StoreError> {
        self.rows(select)
            .await?
            .iter()
            .map(|row| row.shared("name"))
            .collect()
    }
}
