//! Web browsers that are worked in, step by step.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::code::Artifact;
use crate::error::ToolError;

/// Opens browsers.
pub trait BrowserOpener: Send + Sync {
    /// A blank page in a browser of its own, which nobody has used before. Dropping it ends the browser.
    fn open(
        &self,
        request: BrowserRequest,
    ) -> BoxFuture<'_, Result<Box<dyn BrowserPage>, ToolError>>;
}

/// A page, one step after the other. Where a step opens another page, that is the page from then on.
pub trait BrowserPage: Send {
    /// Takes a step; gives what the page says then, with a number in brackets before everything that can be clicked or filled in.
    ///
    /// [`ToolError::Failed`] and [`ToolError::Blocked`] say that the step could not be taken, and the page is as it was. After any other
    /// error there is no page any more.
    fn step(&mut self, step: BrowserStep) -> BoxFuture<'_, Result<String, ToolError>>;

    /// Ends the browser; gives the files that it downloaded.
    fn close(self: Box<Self>) -> BoxFuture<'static, Result<Downloads, ToolError>>;
}

/// What a browser is opened with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrowserRequest {
    /// Files that may be uploaded, by their names.
    pub files: Vec<UploadFile>,
}

/// A file that may be uploaded.
#[derive(Clone, PartialEq, Eq)]
pub struct UploadFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for UploadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UploadFile({:?}, {} bytes)", self.name, self.bytes.len())
    }
}

/// A step in a page. Elements are known by the numbers that the page last told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum BrowserStep {
    /// Goes to an address.
    Go {
        /// The address.
        address: String,
    },
    /// Goes back to the page before.
    Back,
    /// Clicks an element.
    Click {
        /// Its number.
        element: u32,
    },
    /// Fills an element in, in place of what was there.
    Type {
        /// Its number.
        element: u32,
        /// The text; of a choice, one of its options.
        text: String,
        /// Whether Enter is pressed then.
        enter: bool,
    },
    /// Chooses a file for an element.
    Upload {
        /// Its number.
        element: u32,
        /// The file's name.
        file: String,
    },
    /// Reads the page.
    Read {
        /// From which character on.
        from: usize,
    },
}

/// What a browser downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Downloads {
    /// The files.
    pub files: Vec<Artifact>,
    /// Names of files that were left out, and why.
    pub left_out: Vec<(String, String)>,
}
