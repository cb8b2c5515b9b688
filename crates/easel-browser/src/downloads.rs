//! Files that a browser downloaded.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_tools::browser::Downloads;
use easel_tools::code::Artifact;

/// Files that are kept of one use.
const FILES: usize = 20;

/// The largest file that is kept, in bytes.
const BYTES: u64 = 10 << 20;

/// How long downloads under way may take in the end.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often is looked whether they are there.
const LOOK: Duration = Duration::from_millis(100);

/// What a file is called while it comes.
const COMING: &str = "crdownload";

/// Media types by the ends of names.
const MEDIA: [(&str, &str); 14] = [
    ("csv", "text/csv"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("txt", "text/plain"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// What lies in the folder, once nothing is on its way any more.
pub(crate) async fn collect(folder: &Path) -> Downloads {
    let began = tokio::time::Instant::now();
    while under_way(folder) && began.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK).await;
    }
    let mut names = names(folder);
    names.sort();
    let mut downloads = Downloads::default();
    for name in names {
        let path = folder.join(&name);
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        let problem = match () {
            () if ends_with(&name, COMING) => Some("it did not arrive in time".to_owned()),
            () if downloads.files.len() >= FILES => Some(format!("{FILES} files are the most")),
            () if size > BYTES => Some(format!("it has more than {BYTES} bytes")),
            () => None,
        };
        let bytes = match problem {
            Some(problem) => Err(problem),
            None => std::fs::read(&path).map_err(|error| error.to_string()),
        };
        match bytes {
            Err(problem) => downloads.left_out.push((name, problem)),
            Ok(bytes) => downloads.files.push(Artifact {
                mime_type: media(&name).to_owned(),
                size: bytes.len() as u64,
                content_b64: STANDARD.encode(&bytes),
                name,
            }),
        }
    }
    downloads
}

/// The names of files in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let files = entries.filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().is_file());
    files
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn under_way(folder: &Path) -> bool {
    names(folder).iter().any(|name| ends_with(name, COMING))
}

fn ends_with(name: &str, end: &str) -> bool {
    let found = Path::new(name).extension();
    found.is_some_and(|found| found.eq_ignore_ascii_case(end))
}

fn media(name: &str) -> &'static str {
    let known = MEDIA.iter().find(|(end, _)| ends_with(name, end));
    known.map_or("application/octet-stream", |(_, media)| media)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_kept_up_to_a_size_and_a_number() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..FILES + 1 {
            std::fs::write(folder.path().join(format!("{n:02}.csv")), "a,b").unwrap();
        }
        let large = std::fs::File::create(folder.path().join("00 large.bin")).unwrap();
        large.set_len(BYTES + 1).unwrap();
        let downloads = collect(folder.path()).await;
        assert_eq!(downloads.files.len(), FILES);
        let first = &downloads.files[0];
        assert_eq!(
            (&*first.mime_type, first.size, &*first.content_b64),
            ("text/csv", 3, "YSxi")
        );
        let left_out: Vec<&str> = downloads.left_out.iter().map(|(name, _)| &**name).collect();
        assert_eq!(left_out, ["00 large.bin", "20.csv"]);
    }
}
