//! The names of tools.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::agents::Agent;

/// The tool that answers a run.
pub const RESUME: &str = "resume_run";

/// Characters that clients surely take. The protocol allows 128, the models behind many clients 64.
const LONGEST: usize = 64;

/// Characters of an agent's id behind its name, where the name alone does not tell it from others.
const TAIL: usize = 8;

/// The tools of a caller: which name is which agent.
///
/// A name is the agent's title in letters that every client takes. Where two agents come to one name, neither has it: each
/// has a piece of its id behind it, so that no name ever comes to mean another agent. With that piece every agent can be
/// called, whether it is needed or not, so a client that learnt a long name may keep it.
pub struct Names<'a> {
    named: Vec<(String, &'a Agent)>,
}

/// What a name means.
#[derive(Debug)]
pub enum Named<'a> {
    /// This agent.
    Agent(&'a Agent),
    /// Several agents, whose names are these.
    Several(Vec<String>),
    /// Nothing.
    Nobody,
}

impl<'a> Names<'a> {
    /// Names these agents.
    pub fn of(agents: &'a [Agent]) -> Names<'a> {
        let mut counts: HashMap<String, usize> = HashMap::from([(RESUME.to_owned(), 1)]);
        for agent in agents {
            *counts.entry(short(agent)).or_default() += 1;
            // A title that looks like the long name of another must not take it.
            *counts.entry(long(agent)).or_default() += 1;
        }
        let named = agents.iter().map(|agent| {
            let name = short(agent);
            match counts.get(&name) {
                Some(1) => (name, agent),
                _ => (long(agent), agent),
            }
        });
        Names {
            named: named.collect(),
        }
    }

    /// Every agent with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a Agent)> {
        self.named.iter().map(|(name, agent)| (&**name, *agent))
    }

    /// Who has this name.
    pub fn find(&self, name: &str) -> Named<'a> {
        let exact = self.named.iter().find(|(own, _)| own == name);
        if let Some((_, agent)) = exact {
            return Named::Agent(agent);
        }
        if let Some((_, agent)) = self.named.iter().find(|(_, agent)| long(agent) == name) {
            return Named::Agent(agent);
        }
        let alike = self.named.iter().filter(|(_, agent)| short(agent) == name);
        let alike: Vec<String> = alike.map(|(name, _)| name.clone()).collect();
        match alike.is_empty() {
            true => Named::Nobody,
            false => Named::Several(alike),
        }
    }
}

/// The title in plain letters.
fn short(agent: &Agent) -> String {
    let name = plain(&agent.title, LONGEST);
    match name.is_empty() {
        true => format!("agent_{}", tail(&agent.id)),
        false => name,
    }
}

/// The title with a piece of the id.
fn long(agent: &Agent) -> String {
    let name = plain(&agent.title, LONGEST - TAIL - 1);
    match name.is_empty() {
        true => format!("agent_{}", tail(&agent.id)),
        false => format!("{name}_{}", tail(&agent.id)),
    }
}

/// Lower case letters, digits and single underscores; nothing at all if a text has none of them.
fn plain(title: &str, longest: usize) -> String {
    let mut name = String::new();
    let mut gap = false;
    for letter in title.chars() {
        match letter.is_ascii_alphanumeric() {
            true => {
                if gap && !name.is_empty() {
                    name.push('_');
                }
                gap = false;
                name.push(letter.to_ascii_lowercase());
            }
            false => gap = true,
        }
    }
    name.truncate(longest);
    name.trim_end_matches('_').to_owned()
}

/// A piece of an id that tells it from others.
fn tail(id: &Arc<str>) -> String {
    let hash = Sha256::digest(id.as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.chars().take(TAIL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agent(id: &str, title: &str) -> Agent {
        Agent {
            id: id.into(),
            title: title.into(),
            ..Agent::default()
        }
    }

    fn names(agents: &[Agent]) -> Vec<String> {
        let names = Names::of(agents);
        names.iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn a_title_becomes_a_name_that_every_client_takes() {
        let agents = [agent("1", "Deep  Research (v2)"), agent("2", "Übersetzer")];
        assert_eq!(names(&agents), ["deep_research_v2", "bersetzer"]);
        let agents = [agent("1", "翻译助手")];
        assert!(names(&agents)[0].starts_with("agent_"));
    }

    #[test]
    fn agents_of_one_title_are_told_apart_and_neither_has_the_bare_name() {
        let agents = [agent("1", "Writer"), agent("2", "writer!")];
        let found = names(&agents);
        assert!(found.iter().all(|name| name.starts_with("writer_")));
        assert_ne!(found[0], found[1]);
        let names = Names::of(&agents);
        match names.find("writer") {
            Named::Several(several) => assert_eq!(several, found),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_long_name_lasts_when_its_namesake_is_gone() {
        let both = [agent("1", "Writer"), agent("2", "Writer")];
        let long = names(&both)[1].clone();
        let left = [agent("2", "Writer")];
        let names = Names::of(&left);
        assert!(matches!(names.find(&long), Named::Agent(found) if *found.id == *"2"));
        assert!(matches!(names.find("writer"), Named::Agent(_)));
        assert!(matches!(names.find("nobody"), Named::Nobody));
    }

    #[test]
    fn no_title_takes_the_long_name_of_another() {
        let writers = [agent("1", "Writer"), agent("2", "Writer")];
        let long = names(&writers)[0].clone();
        let mut agents = vec![agent("3", &long)];
        agents.extend(writers);
        let names = Names::of(&agents);
        assert!(matches!(names.find(&long), Named::Agent(found) if *found.id == *"1"));
    }

    #[test]
    fn no_agent_takes_the_name_of_the_tool_that_resumes() {
        assert_ne!(names(&[agent("1", "Resume run")])[0], RESUME);
    }

    proptest! {
        #[test]
        fn names_are_unique_and_find_their_agent(titles in proptest::collection::vec("\\PC{0,90}", 0..12)) {
            let agents: Vec<Agent> = titles
                .iter()
                .enumerate()
                .map(|(n, title)| agent(&format!("id-{n}"), title))
                .collect();
            let names = Names::of(&agents);
            let mut seen = std::collections::HashSet::new();
            for (name, agent) in names.iter() {
                prop_assert!(seen.insert(name.to_owned()));
                prop_assert!(name.len() <= LONGEST && !name.is_empty());
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                prop_assert!(name.chars().all(plain));
                prop_assert!(matches!(names.find(name), Named::Agent(found) if found.id == agent.id));
            }
        }
    }
}
