//! Agents, their versions, and who sees them.

use std::sync::Arc;

use easel_runtime::Journal;
use easel_store::{
    AgentFilter, AgentOrder, AgentPatch, AgentRecord, Dialect, NewAgent, NewSession, PageNumber,
    Permission, Store, StoreError,
};

use crate::bench::{Bench, both, count, first};

async fn document(store: &Store, text: &str) -> String {
    let hash = store
        .put_document(Dialect::Canvas, text.as_bytes().to_vec())
        .await;
    hash.unwrap().to_string()
}

async fn agent(store: &Store, owner: &str, title: &str) -> AgentRecord {
    let new = NewAgent {
        owner: owner.into(),
        title: title.into(),
        category: "agent_canvas".into(),
        document: document(store, "{}").await,
        version_title: "first".into(),
        ..NewAgent::default()
    };
    store.create_agent(new).await.unwrap()
}

async fn save(store: &Store, id: &str, text: &str, released: bool) {
    let patch = AgentPatch {
        document: Some(document(store, text).await),
        released: Some(released),
        version_title: text.into(),
        ..AgentPatch::default()
    };
    store.update_agent(id, patch).await.unwrap().unwrap();
}

async fn titles(store: &Store, filter: AgentFilter) -> Vec<String> {
    let listed = store.agents(&filter).await.unwrap();
    listed
        .items
        .iter()
        .map(|agent| agent.title.to_string())
        .collect()
}

both! {
    async fn an_agent_is_made_changed_and_deleted(bench) {
        let new = NewAgent {
            owner: "me".into(),
            title: "Weather".into(),
            description: "asks".into(),
            avatar: "data:".into(),
            category: "agent_canvas".into(),
            kind: "Recommended".into(),
            tags: vec!["b".into(), "a".into()],
            permission: Permission::Team,
            dialect: Some(Dialect::Graph),
            name: Some("weather".into()),
            document: document(&bench, "nodes: []").await,
            version_title: "first".into(),
            ..NewAgent::default()
        };
        let made = bench.create_agent(new.clone()).await.unwrap();
        assert_eq!(made.id.len(), 32);
        assert_eq!((&*made.title, made.permission, made.dialect), ("Weather", Permission::Team, Dialect::Graph));
        assert_eq!(made.tags, new.tags);
        assert_eq!(bench.agent(&made.id).await.unwrap().as_ref(), Some(&made));
        let patch = AgentPatch { description: Some("tells".into()), tags: Some(vec!["c".into()]), ..AgentPatch::default() };
        let changed = bench.update_agent(&made.id, patch).await.unwrap().unwrap();
        assert_eq!(changed, AgentRecord { description: "tells".into(), tags: vec!["c".into()], updated: changed.updated, ..made.clone() });
        assert_eq!(bench.versions(&made.id).await.unwrap().len(), 1, "no new document, no new version");
        let named = AgentFilter { name: Some("weather".into()), owners: vec!["me".into()], ..AgentFilter::default() };
        assert_eq!(titles(&bench, named).await, ["Weather"]);
        assert!(bench.delete_agent(&made.id, false).await.unwrap());
        assert!(!bench.delete_agent(&made.id, false).await.unwrap());
        assert!(bench.agent(&made.id).await.unwrap().is_none());
        assert!(bench.update_agent(&made.id, AgentPatch::default()).await.unwrap().is_none());
        assert_eq!((count(&bench, "versions").await, count(&bench, "agent_tags").await), (0, 0));
    }

    async fn an_owner_has_a_title_once_in_a_category(bench) {
        let made = agent(&bench, "me", "Größe").await;
        agent(&bench, "you", "Größe").await;
        let other = agent(&bench, "me", "other").await;
        let mut new = NewAgent {
            owner: "me".into(),
            title: "GRÖßE".into(),
            category: "agent_canvas".into(),
            document: made.document.to_string(),
            ..NewAgent::default()
        };
        let taken = bench.create_agent(new.clone()).await;
        assert!(matches!(taken, Err(StoreError::TitleTaken(title)) if title == "GRÖßE"));
        let patch = AgentPatch { title: Some("größe".into()), ..AgentPatch::default() };
        assert!(matches!(bench.update_agent(&other.id, patch.clone()).await, Err(StoreError::TitleTaken(_))));
        // Its own title in other letters is no one else's.
        assert_eq!(&*bench.update_agent(&made.id, patch).await.unwrap().unwrap().title, "größe");
        new.category = "dataflow_canvas".into();
        new.name = Some("flow".into());
        bench.create_agent(new.clone()).await.unwrap();
        new.title = "new".into();
        assert!(matches!(bench.create_agent(new.clone()).await, Err(StoreError::NameTaken(name)) if name == "flow"));
        new.document = "nothing".into();
        assert!(matches!(bench.create_agent(new).await, Err(StoreError::Unknown { kind: "document", .. })));
    }

    async fn of_many_who_take_one_title_one_gets_it(bench) {
        let document = document(&bench, "{}").await;
        let other = bench.other().await;
        let new = NewAgent { owner: "me".into(), title: "One".into(), document, ..NewAgent::default() };
        let making = (0..20).map(|n| match n % 2 {
            0 => bench.create_agent(new.clone()),
            _ => other.create_agent(new.clone()),
        });
        let made = futures::future::join_all(making).await;
        assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
        assert!(made.iter().all(|made| matches!(made, Ok(_) | Err(StoreError::TitleTaken(_)))), "{made:?}");
    }

    async fn every_new_draft_is_a_version_and_released_ones_stay(bench) {
        let id = agent(&bench, "me", "A").await.id;
        let versions = async || {
            let versions = bench.versions(&id).await.unwrap();
            versions.iter().map(|version| (version.title.to_string(), version.released)).collect::<Vec<_>>()
        };
        let title = |title: &str, released| (title.to_owned(), released);
        assert_eq!(versions().await, [title("first", false)]);
        save(&bench, &id, "{}", false).await;
        assert_eq!(versions().await, [title("first", false)], "the same document");
        save(&bench, &id, "{\"a\":1}", false).await;
        assert_eq!(versions().await, [title("{\"a\":1}", false), title("first", false)]);
        assert!(bench.released_version(&id).await.unwrap().is_none());
        save(&bench, &id, "{\"a\":1}", true).await;
        assert_eq!(versions().await, [title("{\"a\":1}", true), title("first", false)], "released where it is");
        // The same document again, unreleased: the released one is protected.
        save(&bench, &id, "{\"a\":1}", false).await;
        assert_eq!(versions().await.len(), 3);
        assert_eq!(&*bench.released_version(&id).await.unwrap().unwrap().title, "{\"a\":1}");
        for n in 0..30 {
            save(&bench, &id, &format!("[{n}]"), false).await;
        }
        let kept = versions().await;
        assert_eq!(kept.len(), 21, "the newest twenty and the released one");
        assert_eq!((kept[0].clone(), kept[20].clone()), (title("[29]", false), title("{\"a\":1}", true)));
        let record = bench.agent(&id).await.unwrap().unwrap();
        assert!(record.published.is_some() && record.released_at.is_some() && !record.released);
    }

    async fn a_draft_is_published_and_an_old_version_restored(bench) {
        let id = agent(&bench, "me", "A").await.id;
        save(&bench, &id, "[1]", false).await;
        let published = bench.publish(&id, "one").await.unwrap();
        assert!(published.released && &*published.title == "[1]");
        save(&bench, &id, "[2]", false).await;
        assert_eq!(bench.released_version(&id).await.unwrap().unwrap().id, published.id);
        let second = bench.publish(&id, "two").await.unwrap();
        assert_eq!(bench.released_version(&id).await.unwrap().unwrap().id, second.id);
        let restored = bench.restore_version(&published.id, "back to one").await.unwrap();
        assert_eq!((restored.document.clone(), restored.released), (published.document.clone(), false));
        assert_eq!(bench.agent(&id).await.unwrap().unwrap().document, published.document);
        assert_eq!(bench.released_version(&id).await.unwrap().unwrap().id, second.id, "not before it is published");
        bench.publish(&id, "again").await.unwrap();
        assert_eq!(bench.released_version(&id).await.unwrap().unwrap().document, published.document);
        assert!(bench.delete_version(&second.id).await.unwrap());
        assert!(bench.version(&second.id).await.unwrap().is_none());
        assert!(matches!(bench.publish("nobody", "x").await, Err(StoreError::Unknown { kind: "agent", .. })));
        assert!(matches!(bench.restore_version("none", "x").await, Err(StoreError::Unknown { kind: "version", .. })));
    }

    async fn a_team_sees_what_is_shared_with_it_and_nothing_else(bench) {
        agent(&bench, "me", "mine").await;
        let shared = agent(&bench, "me", "shared").await;
        let patch = AgentPatch { permission: Some(Permission::Team), ..AgentPatch::default() };
        bench.update_agent(&shared.id, patch).await.unwrap();
        agent(&bench, "you", "yours").await;
        let seen_by = async |owner: &str| {
            titles(&bench, AgentFilter { visible_to: Some(owner.into()), ..AgentFilter::default() }).await
        };
        assert_eq!(seen_by("you").await, ["yours"]);
        assert!(bench.join_team("t", "me").await.unwrap());
        assert!(bench.join_team("t", "you").await.unwrap());
        assert!(!bench.join_team("t", "you").await.unwrap());
        assert!(bench.join_team("other", "you").await.unwrap());
        assert_eq!(seen_by("you").await, ["shared", "yours"]);
        assert_eq!(seen_by("me").await, ["mine", "shared"]);
        assert_eq!(seen_by("stranger").await, Vec::<String>::new());
        assert_eq!(seen_by("").await, Vec::<String>::new());
        assert!(bench.agent_for("you", &shared.id).await.unwrap().is_some());
        assert!(bench.agent_for("stranger", &shared.id).await.unwrap().is_none());
        assert_eq!(bench.team_members("t").await.unwrap(), [Arc::from("me"), Arc::from("you")]);
        assert_eq!(bench.teams_of("you").await.unwrap(), [Arc::from("other"), Arc::from("t")]);
        assert!(bench.leave_team("t", "me").await.unwrap());
        assert!(!bench.leave_team("t", "me").await.unwrap());
        assert_eq!(seen_by("you").await, ["yours"]);
    }

    async fn agents_are_found_by_what_one_knows_of_them(bench) {
        for (title, tags) in [("Weather", &["a", "b"][..]), ("News 100%", &["b"]), ("Sport", &[])] {
            let made = agent(&bench, "me", title).await;
            let tags = tags.iter().map(|tag| Arc::from(*tag)).collect();
            let patch = AgentPatch { tags: Some(tags), kind: Some(title[..1].into()), ..AgentPatch::default() };
            bench.update_agent(&made.id, patch).await.unwrap();
        }
        let base = AgentFilter::default;
        assert_eq!(titles(&bench, AgentFilter { keywords: Some("WEA".into()), ..base() }).await, ["Weather"]);
        assert_eq!(titles(&bench, AgentFilter { keywords: Some("%".into()), ..base() }).await, ["News 100%"]);
        assert_eq!(titles(&bench, AgentFilter { tags: vec!["a".into(), "c".into()], ..base() }).await, ["Weather"]);
        assert_eq!(titles(&bench, AgentFilter { kind: Some("S".into()), ..base() }).await, ["Sport"]);
        assert_eq!(titles(&bench, AgentFilter { title: Some("Sport".into()), ..base() }).await, ["Sport"]);
        assert_eq!(titles(&bench, AgentFilter { dialect: Some(Dialect::Graph), ..base() }).await, Vec::<String>::new());
        assert_eq!(titles(&bench, AgentFilter { released: true, ..base() }).await, Vec::<String>::new());
        assert_eq!(titles(&bench, AgentFilter { order: AgentOrder::Title, desc: true, ..base() }).await, ["Weather", "Sport", "News 100%"]);
        assert_eq!(titles(&bench, AgentFilter { desc: true, ..base() }).await, ["Sport", "News 100%", "Weather"]);
        let page = AgentFilter { page: PageNumber { page: 2, size: 2 }, ..base() };
        let listed = bench.agents(&page).await.unwrap();
        assert_eq!((listed.items.len(), listed.total), (1, 3));
        let tags = bench.agent_tags(&base()).await.unwrap();
        let tags: Vec<_> = tags.iter().map(|count| (&*count.tag, count.agents)).collect();
        assert_eq!(tags, [("b", 2), ("a", 1)]);
    }

    async fn an_agent_goes_with_its_sessions_unless_they_are_kept(bench) {
        for keep in [true, false] {
            let id = agent(&bench, "me", "A").await.id;
            let new = NewSession { agent: id.to_string(), ..NewSession::default() };
            let session = bench.create_session(new).await.unwrap();
            let run = format!("run {keep}");
            let mut batch = first(&run, "me");
            let origin = easel_runtime::Origin { agent: id.clone(), ..easel_runtime::Origin::default() };
            batch.origin = Some(Arc::new(origin));
            bench.append(batch).await.unwrap();
            assert!(bench.delete_agent(&id, keep).await.unwrap());
            assert_eq!(bench.session(&session.id).await.unwrap().is_some(), keep);
            assert_eq!(bench.run(&run).await.unwrap().is_some(), keep);
        }
    }
}

both! {
    async fn whose_a_document_is_follows_from_agents_and_their_versions(bench) {
        let store = &bench.store;
        let mine = agent(store, "me", "Mine").await;
        let theirs = agent(store, "you", "Theirs").await;
        let old = document(store, "{\"old\": 1}").await;
        save(store, &mine.id, "{\"old\": 1}", false).await;
        save(store, &mine.id, "{\"new\": 1}", false).await;
        assert!(store.owns_document("me", &old).await.unwrap(), "a version");
        assert!(!store.owns_document("you", &old).await.unwrap());
        assert!(store.has_document(&mine.id, &old).await.unwrap());
        assert!(!store.has_document(&theirs.id, &old).await.unwrap());
    }
}
