//! A package as one zip file.

use std::io::{Cursor, Read, Write};

use zip::read::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

use super::{Files, Limits, PackageError, name};

/// The files of an archive. Sizes are counted while unpacking: what an archive says of them may be a lie.
pub(super) fn read(bytes: &[u8], limits: Limits) -> Result<Files, PackageError> {
    if bytes.len() as u64 > limits.archive_bytes {
        let (what, limit) = ("bytes as an archive", limits.archive_bytes);
        return Err(PackageError::TooLarge { what, limit });
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    // Folders count as well, but nobody needs more of them than files.
    if archive.len() > limits.files.saturating_mul(2) {
        return Err(too_many_files(limits));
    }
    let mut files = Files::new();
    let mut total = 0;
    for at in 0..archive.len() {
        let entry = archive.by_index(at)?;
        let name = entry.name()?.into_owned();
        if entry.is_symlink() {
            let why = "in an archive";
            return Err(PackageError::Link { name, why });
        }
        let is_folder = entry.is_dir();
        let checked = if is_folder {
            name.trim_end_matches('/')
        } else {
            &name
        };
        if let Some(why) = name::fault(checked) {
            return Err(PackageError::Name { name, why });
        }
        if is_folder {
            continue;
        }
        let mut contents = Vec::new();
        let mut part = entry.take(limits.file_bytes + 1);
        part.read_to_end(&mut contents)
            .map_err(zip::result::ZipError::from)?;
        if contents.len() as u64 > limits.file_bytes {
            let limit = limits.file_bytes;
            return Err(PackageError::FileTooLarge { name, limit });
        }
        add_up(contents.len() as u64, &mut total, limits)?;
        if files.len() >= limits.files {
            return Err(too_many_files(limits));
        }
        files.insert(name, contents.into());
    }
    name::check_all(files.keys())?;
    Ok(files)
}

/// Adds the size of a file to that of all.
pub(super) fn add_up(bytes: u64, total: &mut u64, limits: Limits) -> Result<(), PackageError> {
    *total = total.saturating_add(bytes);
    if *total > limits.total_bytes {
        let (what, limit) = ("bytes in all its files", limits.total_bytes);
        return Err(PackageError::TooLarge { what, limit });
    }
    Ok(())
}

pub(super) fn too_many_files(limits: Limits) -> PackageError {
    let (what, limit) = ("files", limits.files as u64);
    PackageError::TooLarge { what, limit }
}

/// The archive of files: by name, without times, rights and owners, so that the same files are the same bytes.
pub(super) fn write(files: &Files) -> Result<Vec<u8>, PackageError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(6))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(name.as_str(), options)?;
        archive
            .write_all(bytes)
            .map_err(zip::result::ZipError::from)?;
    }
    Ok(archive.finish()?.into_inner())
}
