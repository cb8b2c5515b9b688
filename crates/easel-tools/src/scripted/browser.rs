//! A browser whose pages stand in the script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use futures::future::BoxFuture;

use super::script::PageRule;
use super::{ScriptedWorld, done, entry, failed};
use crate::browser::{BrowserOpener, BrowserPage, BrowserRequest, BrowserStep, Downloads};
use crate::code::Artifact;
use crate::error::{Capability, ToolError};

/// A page, and those before it.
struct ScriptedPage {
    world: ScriptedWorld,
    addresses: Vec<String>,
    downloads: Downloads,
}

impl BrowserOpener for ScriptedWorld {
    fn open(
        &self,
        request: BrowserRequest,
    ) -> BoxFuture<'_, Result<Box<dyn BrowserPage>, ToolError>> {
        let files = request.files.iter();
        let files = files.map(|file| Value::from(file.name.as_str()));
        let files: Vec<Value> = files.collect();
        self.state()
            .calls
            .push(entry([("browser", Value::from(files))]));
        let page = ScriptedPage {
            world: self.clone(),
            addresses: Vec::new(),
            downloads: Downloads::default(),
        };
        done(Ok(Box::new(page)))
    }
}

impl ScriptedPage {
    fn rule(&self, address: &str) -> Option<PageRule> {
        self.world.state().pages.get(address).cloned()
    }

    /// The page that is open.
    fn here(&self) -> PageRule {
        let here = self.addresses.last();
        here.and_then(|address| self.rule(address))
            .unwrap_or_default()
    }

    fn go(&mut self, address: String) -> Result<(), ToolError> {
        let Some(rule) = self.rule(&address) else {
            let problem = format!("{address} cannot be opened: no scripted page");
            return Err(failed(Capability::Browser.name(), problem));
        };
        for (name, text) in &rule.downloads {
            self.downloads.files.push(Artifact {
                name: name.clone(),
                mime_type: "text/plain".to_owned(),
                size: text.len() as u64,
                content_b64: STANDARD.encode(text),
            });
        }
        self.addresses.push(address);
        Ok(())
    }

    /// Goes where an element leads. One that leads nowhere is a failure only where it was `clicked`.
    fn follow(&mut self, element: u32, clicked: bool) -> Result<(), ToolError> {
        match self.here().links.get(&element.to_string()) {
            Some(address) => self.go(address.clone()),
            None if clicked => {
                let problem = format!("there is no [{element}] on the page");
                Err(failed(Capability::Browser.name(), problem))
            }
            None => Ok(()),
        }
    }

    fn take(&mut self, step: BrowserStep) -> Result<String, ToolError> {
        let said = serde_json::to_value(&step)
            .map(Value::from)
            .unwrap_or_default();
        self.world.state().calls.push(said);
        match step {
            BrowserStep::Go { address } => self.go(address)?,
            BrowserStep::Back => drop(self.addresses.pop()),
            BrowserStep::Click { element } => self.follow(element, true)?,
            BrowserStep::Type { element, enter, .. } if enter => self.follow(element, false)?,
            BrowserStep::Type { .. } | BrowserStep::Upload { .. } | BrowserStep::Read { .. } => {}
        }
        Ok(self.here().text)
    }
}

impl BrowserPage for ScriptedPage {
    fn step(&mut self, step: BrowserStep) -> BoxFuture<'_, Result<String, ToolError>> {
        done(self.take(step))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<Downloads, ToolError>> {
        done(Ok(self.downloads))
    }
}
