//! The parts of an Office file, unpacked within a limit.

use std::collections::HashMap;
use std::io::{Cursor, Read, sink};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::xml::{self, Node};
use crate::error::ReadError;
use crate::limits::Limits;

/// An Office file.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    format: &'static str,
    /// Bytes that may still be unpacked.
    left: u64,
    limit: u64,
}

impl<'a> Package<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        format: &'static str,
        limits: &Limits,
    ) -> Result<Package<'a>, ReadError> {
        let archive = ZipArchive::new(Cursor::new(bytes));
        Ok(Package {
            archive: archive.map_err(|cause| ReadError::damaged(format, cause))?,
            format,
            left: limits.unpacked_bytes,
            limit: limits.unpacked_bytes,
        })
    }

    /// The text of a part. `None` if there is no such part.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ReadError> {
        let Some(at) = self.archive.index_for_name(name) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        self.unpack(at, |part| part.read_to_end(&mut bytes).map(|n| n as u64))?;
        let text = super::plain::decode(&bytes)?;
        Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
    }

    /// The text of a part that must be there.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, ReadError> {
        let format = self.format;
        self.part(name)?
            .ok_or_else(|| ReadError::damaged(format, format!("{name} is missing")))
    }

    /// Unpacks everything once, to know that it stays within the limit and is whole.
    pub(super) fn verify(mut self) -> Result<(), ReadError> {
        for at in 0..self.archive.len() {
            self.unpack(at, |part| std::io::copy(part, &mut sink()))?;
        }
        Ok(())
    }

    /// Reads one part; what archives say of their sizes is not trusted.
    fn unpack(
        &mut self,
        at: usize,
        read: impl FnOnce(&mut std::io::Take<ZipFile<'_, Cursor<&'a [u8]>>>) -> std::io::Result<u64>,
    ) -> Result<(), ReadError> {
        let part = self.archive.by_index(at);
        let part = part.map_err(|cause| ReadError::damaged(self.format, cause))?;
        let read = read(&mut part.take(self.left + 1));
        let read = read.map_err(|cause| ReadError::damaged(self.format, cause))?;
        self.left = self.left.checked_sub(read).ok_or_else(|| {
            ReadError::new(
                format!("it is larger than {} bytes when unpacked", self.limit),
                "Take pictures out of it, or split it into smaller documents",
            )
        })?;
        Ok(())
    }

    /// What the relations of a part lead to, by their ids; targets are names of parts in `folder`.
    pub(super) fn relations(
        &mut self,
        name: &str,
        folder: &str,
    ) -> Result<HashMap<String, String>, ReadError> {
        let mut relations = HashMap::new();
        let Some(text) = self.part(name)? else {
            return Ok(relations);
        };
        xml::walk(&text, self.format, |node| {
            if let Node::Open("Relationship", tag) = node
                && let (Some(id), Some(target)) =
                    (xml::attribute(tag, "Id"), xml::attribute(tag, "Target"))
            {
                let part = match target.strip_prefix('/') {
                    Some(absolute) => absolute.to_owned(),
                    None => format!("{folder}/{target}"),
                };
                relations.insert(id, part);
            }
            Ok(())
        })?;
        Ok(relations)
    }
}
