//! A page in a browser: one step after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::browser::{BrowserPage, BrowserRequest, BrowserStep, Downloads};
use easel_tools::guard::{Allow, check_url};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::time::{Instant, sleep};

use crate::downloads;
use crate::launch::{Running, failed};

/// Reads a page: see there.
const SNAPSHOT: &str = include_str!("snapshot.js");

/// The world of scripts in which Easel's run, apart from those of pages.
const WORLD: &str = "easel";

/// Characters of a page that are told at once.
const TOLD: usize = 12_000;

/// How long a page may take to load before it is read as it is.
const LOAD: Duration = Duration::from_secs(20);

/// How long a page gets to begin what a step sets off.
const SETTLE: Duration = Duration::from_millis(400);

/// How often is looked whether it has loaded.
const LOOK: Duration = Duration::from_millis(100);

/// A page, and the browser it is in.
pub(crate) struct Page {
    running: Running,
    allow: Arc<Allow>,
    target: String,
    session: String,
    uploads: Vec<String>,
    /// Files that were told of already.
    told: Vec<String>,
}

impl Page {
    /// A blank page in a browser that was just started.
    pub(crate) async fn open(
        running: Running,
        allow: Arc<Allow>,
        request: BrowserRequest,
    ) -> Result<Page, ToolError> {
        let mut uploads = Vec::new();
        for (at, file) in request.files.iter().enumerate() {
            let name = plain_name(&file.name, at);
            std::fs::write(running.folder("uploads").join(&name), &file.bytes)
                .map_err(|error| failed(&format!("{name} cannot be handed to it: {error}")))?;
            uploads.push(name);
        }
        let downloads = json!({
            "behavior": "allow",
            "downloadPath": running.folder("downloads"),
        });
        let pipe = running.pipe.clone();
        pipe.call(None, "Browser.setDownloadBehavior", downloads)
            .await?;
        let mut page = Page {
            running,
            allow,
            target: String::new(),
            session: String::new(),
            uploads,
            told: Vec::new(),
        };
        let targets = page.targets().await?;
        let first = targets.into_iter().next();
        page.attach(first.ok_or_else(|| failed("it has no page"))?)
            .await?;
        Ok(page)
    }

    /// The pages that are open, in no order.
    async fn targets(&self) -> Result<Vec<String>, ToolError> {
        let found = self
            .running
            .pipe
            .call(None, "Target.getTargets", json!({}))
            .await?;
        let targets = found["targetInfos"].as_array().cloned().unwrap_or_default();
        let pages = targets.iter().filter(|target| target["type"] == "page");
        Ok(pages
            .filter_map(|page| page["targetId"].as_str().map(str::to_owned))
            .collect())
    }

    /// Makes a page the one that is looked at.
    async fn attach(&mut self, target: String) -> Result<(), ToolError> {
        let params = json!({"targetId": target, "flatten": true});
        let attached = self
            .running
            .pipe
            .call(None, "Target.attachToTarget", params)
            .await?;
        self.session = attached["sessionId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        self.target = target;
        // So that it says when it asks people something.
        self.call("Page.enable", json!({})).await.map(drop)
    }

    async fn call(&self, method: &str, params: Json) -> Result<Json, ToolError> {
        let session = Some(self.session.as_str());
        self.running.pipe.call(session, method, params).await
    }

    /// Goes over to a page that a step has opened.
    async fn follow(&mut self, before: &[String]) -> Result<(), ToolError> {
        let now = self.targets().await?;
        let new = now.iter().find(|target| !before.contains(target));
        let closed = !now.contains(&self.target);
        match (new, now.first()) {
            (Some(new), _) => self.attach(new.clone()).await,
            (None, Some(other)) if closed => self.attach(other.clone()).await,
            (None, None) => Err(failed("every page was closed")),
            _ => Ok(()),
        }
    }

    /// Runs a script beside those of the page; gives its value.
    async fn run(&self, script: &str) -> Result<Json, ToolError> {
        let frames = self.call("Page.getFrameTree", json!({})).await?;
        let frame = frames["frameTree"]["frame"]["id"].clone();
        let world = json!({"frameId": frame, "worldName": WORLD});
        let world = self.call("Page.createIsolatedWorld", world).await?;
        let ask = json!({
            "expression": script,
            "contextId": world["executionContextId"],
            "returnByValue": true,
            "awaitPromise": true,
            "userGesture": true,
        });
        let answer = self.call("Runtime.evaluate", ask).await?;
        match answer["exceptionDetails"]["exception"]["description"].as_str() {
            Some(problem) => {
                let problem = problem.lines().next().unwrap_or_default();
                Err(failed(problem.strip_prefix("Error: ").unwrap_or(problem)))
            }
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Waits until the page has loaded, or for as long as it may take.
    async fn settle(&self) {
        sleep(SETTLE).await;
        let began = Instant::now();
        while began.elapsed() < LOAD {
            // While it goes from one page to the next, there is nothing to ask.
            let state = self.run("document.readyState").await;
            if state.is_ok_and(|state| state == "complete") {
                break;
            }
            sleep(LOOK).await;
        }
    }

    async fn go(&self, address: &str) -> Result<(), ToolError> {
        let address = match address.contains("://") {
            true => address.to_owned(),
            false => format!("https://{address}"),
        };
        let (address, _) = check_url(&address, &self.allow)?;
        let params = json!({"url": address.as_str()});
        let gone = self.call("Page.navigate", params).await?;
        match gone["errorText"].as_str() {
            // What is downloaded is no page.
            None | Some("net::ERR_ABORTED") => Ok(()),
            Some(error) => {
                let why = self.running.gateway.refusal();
                let why = why.unwrap_or_else(|| error.to_owned());
                Err(failed(&format!("{address} cannot be opened: {why}")))
            }
        }
    }

    async fn back(&self) -> Result<(), ToolError> {
        let history = self.call("Page.getNavigationHistory", json!({})).await?;
        let before = history["currentIndex"]
            .as_u64()
            .and_then(|at| at.checked_sub(1));
        let entry = before.and_then(|at| history["entries"].get(usize::try_from(at).ok()?));
        // The first is the blank page that a browser begins with.
        match entry.filter(|entry| entry["url"] != "about:blank") {
            None => Err(failed("there is no page before this one")),
            Some(entry) => {
                let params = json!({"entryId": entry["id"]});
                self.call("Page.navigateToHistoryEntry", params)
                    .await
                    .map(drop)
            }
        }
    }

    /// Runs a script on an element by its number, as `element`.
    async fn on(&self, element: u32, script: &str) -> Result<Json, ToolError> {
        let index = u64::from(element).saturating_sub(1);
        self.run(&format!(
            "(() => {{ const element = (globalThis.easelElements || [])[{index}]; \
             if (!element || !element.isConnected) throw new Error('there is no [{element}] on the page any more; read it again'); {script} }})()"
        ))
        .await
    }

    async fn click(&self, element: u32) -> Result<(), ToolError> {
        let place = self
            .on(
                element,
                "element.scrollIntoView({block: 'center', inline: 'center'}); const box = element.getBoundingClientRect(); \
                 const x = box.x + box.width / 2, y = box.y + box.height / 2; const top = document.elementFromPoint(x, y); \
                 return top && (element === top || element.contains(top) || top.contains(element)) ? {x, y} : null;",
            )
            .await?;
        if place.is_null() {
            // Something lies over it, or it has no place: then as a keyboard would.
            return self.on(element, "element.click();").await.map(drop);
        }
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let params = json!({
                "type": kind, "x": place["x"], "y": place["y"],
                "button": if kind == "mouseMoved" { "none" } else { "left" },
                "clickCount": i32::from(kind != "mouseMoved"),
            });
            self.call("Input.dispatchMouseEvent", params).await?;
        }
        Ok(())
    }

    async fn fill_in(&self, element: u32, text: &str, enter: bool) -> Result<(), ToolError> {
        let text_of_script = Json::from(text).to_string();
        let done = self
            .on(
                element,
                &format!(
                    "const text = {text_of_script}; element.scrollIntoView({{block: 'center'}}); \
                     if (element.tagName === 'SELECT') {{ \
                       const wanted = Array.from(element.options).find(o => o.label.trim() === text.trim() || o.value === text); \
                       if (!wanted) throw new Error('it has no such choice'); \
                       element.value = wanted.value; element.dispatchEvent(new Event('input', {{bubbles: true}})); \
                       element.dispatchEvent(new Event('change', {{bubbles: true}})); return true; }} \
                     if (!element.isContentEditable && !('value' in element)) throw new Error('nothing can be typed into it'); \
                     element.focus(); if (element.select) element.select(); else document.getSelection().selectAllChildren(element); \
                     return false;"
                ),
            )
            .await?;
        if done == false {
            self.call("Input.insertText", json!({"text": text})).await?;
        }
        if enter {
            for kind in ["rawKeyDown", "char", "keyUp"] {
                let params = json!({
                    "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r",
                });
                self.call("Input.dispatchKeyEvent", params).await?;
            }
        }
        Ok(())
    }

    async fn upload(&self, element: u32, file: &str) -> Result<(), ToolError> {
        let known = self.uploads.iter().find(|name| **name == *file);
        let Some(name) = known else {
            let there = self.uploads.join(", ");
            return Err(failed(&format!(
                "there is no file {file}; there are: {there}"
            )));
        };
        let path: PathBuf = self.running.folder("uploads").join(name);
        let is_file = "if (element.type !== 'file') throw new Error('it takes no file');";
        self.on(element, is_file).await?;
        // A script cannot hand a file over; the browser can, by what it calls the element.
        let frames = self.call("Page.getFrameTree", json!({})).await?;
        let frame = frames["frameTree"]["frame"]["id"].clone();
        let world = json!({"frameId": frame, "worldName": WORLD});
        let world = self.call("Page.createIsolatedWorld", world).await?;
        let index = u64::from(element).saturating_sub(1);
        let ask = json!({
            "expression": format!("globalThis.easelElements[{index}]"),
            "contextId": world["executionContextId"],
        });
        let found = self.call("Runtime.evaluate", ask).await?;
        let object = found["result"]["objectId"].clone();
        let params = json!({"files": [path], "objectId": object});
        self.call("DOM.setFileInputFiles", params).await.map(drop)
    }

    /// What the page says now, from that character on.
    async fn read(&mut self, from: usize) -> Result<String, ToolError> {
        let seen = self.run(SNAPSHOT).await?;
        let text = |name: &str| seen[name].as_str().unwrap_or_default().to_owned();
        let (title, address, body) = (text("title"), text("address"), text("text"));
        let told: String = body.chars().skip(from).take(TOLD).collect();
        let length = body.chars().count();
        let mut answer = format!("{title}\n{address}\n\n{told}");
        let end = from.saturating_add(TOLD);
        if length > end {
            answer.push_str(&format!(
                "\n\n(There is more: read from {end} of {length}.)"
            ));
        }
        let folder = self.running.folder("downloads");
        for name in downloads::names(&folder) {
            if !self.told.contains(&name) {
                answer.push_str(&format!("\n\n(Downloaded: {name})"));
                self.told.push(name);
            }
        }
        Ok(answer)
    }

    async fn step_on(&mut self, step: BrowserStep) -> Result<String, ToolError> {
        let before = self.targets().await?;
        // What was refused earlier is no matter of this step's.
        self.running.gateway.refusal();
        match &step {
            BrowserStep::Go { address } => self.go(address).await?,
            BrowserStep::Back => self.back().await?,
            BrowserStep::Click { element } => self.click(*element).await?,
            BrowserStep::Type {
                element,
                text,
                enter,
            } => self.fill_in(*element, text, *enter).await?,
            BrowserStep::Upload { element, file } => self.upload(*element, file).await?,
            BrowserStep::Read { from } => return self.read(*from).await,
        }
        self.settle().await;
        self.follow(&before).await?;
        let mut told = self.read(0).await?;
        if let Some(refused) = self.running.gateway.refusal() {
            told.push_str(&format!("\n\n(Something was not loaded: {refused})"));
        }
        Ok(told)
    }
}

impl BrowserPage for Page {
    fn step(&mut self, step: BrowserStep) -> BoxFuture<'_, Result<String, ToolError>> {
        self.step_on(step).boxed()
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, Result<Downloads, ToolError>> {
        async move {
            let downloads = downloads::collect(&self.running.folder("downloads")).await;
            self.running.end().await;
            Ok(downloads)
        }
        .boxed()
    }
}

/// A name that leads nowhere else, and that no other upload has.
fn plain_name(name: &str, at: usize) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    let plain: String = name.chars().filter(|c| !odd(*c)).take(100).collect();
    let plain = plain.trim_matches(['.', ' ']);
    match (plain, at) {
        ("", at) => format!("file-{}", at + 1),
        (plain, 0) => plain.to_owned(),
        (plain, at) => format!("{}-{plain}", at + 1),
    }
}
