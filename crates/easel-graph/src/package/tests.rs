use std::fs;
use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

const NOTES: &[(&str, &str)] = &[
    (
        MANIFEST,
        "name: notes\nversion: 1.10\ntags: [a, b]\nowner: me\n",
    ),
    (
        GRAPH,
        "# mine\nname: g\nfunctions: ./helpers.py\nnodes:\n  - {id: a, instructions: one}\n  - {id: b, instructions: two, depends_on: [a]}\noutputs: [b]\n",
    ),
    ("helpers.py", "def done(i): return True\n"),
    ("nodes/fetch.py", "def run(**kw): return 1\n"),
    ("lib/__init__.py", "X = 1\n"),
];

fn files(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let files = files.iter();
    files
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

fn notes() -> Package {
    Package::from_files(files(NOTES)).unwrap()
}

fn with(more: &[(&str, &str)]) -> Package {
    Package::from_files(files(&[NOTES, more].concat())).unwrap()
}

/// A zip file of these entries, whatever their names.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn refused(entries: &[(&str, &[u8])]) -> PackageError {
    Package::from_archive(&archive(entries)).unwrap_err()
}

#[test]
fn a_package_has_a_manifest_a_graph_and_its_python() {
    let package = notes();
    assert_eq!(
        (&*package.manifest.name, &*package.manifest.version),
        ("notes", "1.10")
    );
    assert_eq!(package.manifest.more["owner"], "me".into());
    assert_eq!(package.document.findings(), []);
    assert_eq!(package.sidecar().unwrap().0, "helpers.py");
    assert_eq!(package.module("nodes.fetch").unwrap().0, "nodes/fetch.py");
    assert_eq!(package.module("lib").unwrap().1, "X = 1\n");
    assert!(package.module("os").is_none());
}

#[test]
fn packing_and_unpacking_gives_the_same_files_and_the_same_bytes() {
    let package = notes();
    let packed = package.to_archive().unwrap();
    assert_eq!(packed, notes().to_archive().unwrap());
    let again = Package::from_archive(&packed).unwrap();
    assert!(again.files().eq(package.files()));
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("new");
    again.unpack(&into).unwrap();
    let opened = Package::open(&into).unwrap();
    assert!(opened.files().eq(package.files()));
    assert_eq!(opened.to_archive().unwrap(), packed);
    assert_eq!(opened.document.to_yaml(), NOTES[1].1, "comments included");
    assert!(matches!(
        again.unpack(&into),
        Err(PackageError::NotEmpty { .. })
    ));
    let file = folder.path().join("notes.ZIP");
    fs::write(&file, packed).unwrap();
    assert_eq!(Package::open(&file).unwrap().manifest, package.manifest);
}

#[test]
fn a_graph_alone_is_a_package_with_the_python_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.yaml");
    fs::write(&path, "name: alone\nfunctions: helpers.py\nnodes: [{id: f, kind: function, callable: 'nodes.fetch:run'}]\noutputs: [f]\n").unwrap();
    fs::write(folder.path().join("helpers.py"), "x = 1").unwrap();
    fs::write(folder.path().join("private.txt"), "not named").unwrap();
    fs::create_dir(folder.path().join("nodes")).unwrap();
    fs::write(folder.path().join("nodes/fetch.py"), "y = 1").unwrap();
    let package = Package::open(&path).unwrap();
    let names: Vec<_> = package.files().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["flow.yaml", "helpers.py", "nodes/fetch.py", "workflow.yaml"]
    );
    let again = Package::from_archive(&package.to_archive().unwrap()).unwrap();
    assert_eq!(
        (&*again.manifest.name, &*again.manifest.entrypoint),
        ("alone", "flow.yaml")
    );
}

#[test]
fn a_folder_without_a_manifest_may_be_given_a_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join(GRAPH),
        "name: g\nnodes: [{id: a}]\noutputs: [a]\n",
    )
    .unwrap();
    fs::create_dir(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("agents/a.yaml"), "instructions: ONE\n").unwrap();
    assert!(matches!(
        Package::open(folder.path()),
        Err(PackageError::NoManifest)
    ));
    let package = Package::open_or_name(folder.path(), "yes").unwrap();
    assert_eq!(package.manifest.name, "yes");
    assert!(package.document.nodes[0].instructions.is_some());
    let again = Package::from_archive(&package.to_archive().unwrap()).unwrap();
    assert_eq!(again.manifest, package.manifest);
}

#[test]
fn what_python_and_git_leave_behind_is_no_part_of_a_package() {
    let folder = tempfile::tempdir().unwrap();
    notes().unpack(folder.path()).unwrap();
    for name in [
        ".git/config",
        "__pycache__/a.py",
        "nodes/__pycache__/x.pyc",
        "nodes/x.pyc",
        ".env",
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    assert!(
        Package::open(folder.path())
            .unwrap()
            .files()
            .eq(notes().files())
    );
}

#[test]
fn a_folder_without_a_manifest_or_a_name_is_refused_with_what_to_do() {
    let refused = |given: &[(&str, &str)]| Package::from_files(files(given)).unwrap_err();
    let graph = (GRAPH, "name: g\nnodes: [{id: a}]");
    assert!(matches!(refused(&[graph]), PackageError::NoManifest));
    let error = refused(&[graph, (MANIFEST, "description: x\n")]).to_string();
    assert_eq!(
        error,
        "workflow.yaml: line 1, column 1: name: The manifest has no `name`. Write name: and a word."
    );
    let error = refused(&[graph, (MANIFEST, "name: [x\n")]);
    assert!(matches!(error, PackageError::Manifest(_)), "{error}");
    let error = refused(&[graph, (MANIFEST, "name: n\nentrypoint: flow.yml\n")]);
    assert!(
        matches!(error, PackageError::NoEntrypoint { .. }),
        "{error}"
    );
    let error = refused(&[graph, (MANIFEST, "name: n\nentrypoint: ../../etc/passwd\n")]);
    assert!(matches!(error, PackageError::Name { .. }), "{error}");
    let error = refused(&[(MANIFEST, "name: n\n"), (GRAPH, "nodes: [\n")]);
    assert!(
        error.to_string().starts_with("graph.yaml: line "),
        "{error}"
    );
}

#[test]
fn the_entrypoint_may_be_another_file() {
    let package = Package::from_files(files(&[
        (MANIFEST, "name: n\nentrypoint: flow.json\n"),
        (GRAPH, "name: wrong\nnodes: []\n"),
        (
            "flow.json",
            "{\"name\": \"right\", \"nodes\": [{\"id\": \"a\"}]}",
        ),
    ]));
    assert_eq!(&*package.unwrap().document.name.value, "right");
}

#[test]
fn overrides_replace_keys_of_the_node_they_are_named_after() {
    let package = with(&[
        ("agents/a.yaml", "instructions: ONE\nname: Label\n"),
        (
            "agents/zz.yaml",
            "id: b\ninstructions: TWO\npolicy: {retries: many}\n",
        ),
        ("agents/ghost.yaml", "instructions: nobody\n"),
        ("agents/broken.yaml", "a: [\n"),
        ("agents/README.md", "not an override"),
        ("agents/old/a.yaml", "instructions: OLD\n"),
    ]);
    let nodes = &package.document.nodes;
    assert_eq!(&*nodes[0].instructions.as_ref().unwrap().value, "ONE");
    assert_eq!(&*nodes[1].instructions.as_ref().unwrap().value, "TWO");
    assert_eq!(&*nodes[1].depends_on[0].value, "a", "other keys stay");
    let found: Vec<_> = package
        .document
        .findings()
        .iter()
        .map(|f| (f.code.name(), f.subject.as_deref().unwrap(), f.at.line))
        .collect();
    assert_eq!(
        found,
        [
            ("package.override", "agents/broken.yaml", 0),
            ("package.override", "agents/ghost.yaml", 0),
            ("type", "retries", 6)
        ]
    );
    assert_eq!(
        package.document.to_yaml(),
        NOTES[1].1,
        "the graph's own file is as it was"
    );
}

#[test]
fn overrides_do_not_reach_into_bodies() {
    let package = Package::from_files(files(&[
        (MANIFEST, "name: n\n"),
        (GRAPH, "name: g\noutputs: [s]\nnodes: [{id: s, kind: subgraph, body: [{id: p, instructions: P}]}]\n"),
        ("agents/p.yaml", "instructions: CHANGED\n"),
    ]))
    .unwrap();
    assert_eq!(
        &*package.document.nodes[0].body[0]
            .instructions
            .as_ref()
            .unwrap()
            .value,
        "P"
    );
    assert!(package.document.findings()[0].cause.contains("no node `p`"));
}

#[test]
fn a_sidecar_that_is_missing_or_outside_is_an_error_with_its_line() {
    let found = |functions: &str| {
        let graph = format!("name: g\nnodes: [{{id: a}}]\noutputs: [a]\nfunctions: {functions}\n");
        let package =
            Package::from_files(files(&[(MANIFEST, "name: n\n"), (GRAPH, &graph)])).unwrap();
        let found = package.document.load_errors().next().unwrap().clone();
        (found.code.name(), found.at.line, found.cause)
    };
    assert_eq!(
        found("nope.py"),
        (
            "functions",
            4,
            "There is no file `nope.py` beside the graph.".to_owned()
        )
    );
    for outside in ["../x.py", "/etc/passwd", "a/../../x.py"] {
        assert!(found(outside).2.contains("outside"), "{outside}");
    }
}

#[test]
fn archives_with_dangerous_names_are_refused() {
    for name in [
        "../evil",
        "/evil",
        "a/../../evil",
        "a\\evil",
        "C:evil",
        "nodes/../x",
    ] {
        assert!(
            matches!(refused(&[(name, b"x")]), PackageError::Name { .. }),
            "{name}"
        );
    }
    let collide = refused(&[(MANIFEST, b"name: n"), ("A.py", b""), ("a.py", b"")]);
    assert!(collide.to_string().contains("capital letters"), "{collide}");
    let mut link = ZipWriter::new(Cursor::new(Vec::new()));
    link.add_symlink("nodes", "/etc", SimpleFileOptions::default())
        .unwrap();
    let link = link.finish().unwrap().into_inner();
    assert!(matches!(
        Package::from_archive(&link),
        Err(PackageError::Link { .. })
    ));
    assert!(matches!(
        Package::from_archive(b"PK no archive"),
        Err(PackageError::Archive(_))
    ));
}

#[test]
fn an_archive_that_swells_is_refused_before_it_is_unpacked_whole() {
    let limits = Limits {
        file_bytes: 100_000,
        total_bytes: 250_000,
        ..Limits::default()
    };
    let zeros = vec![0; 1_000_000];
    let bomb = archive(&[(MANIFEST, b"name: n"), ("bomb", &zeros)]);
    assert!(bomb.len() < 10_000);
    let error = Package::from_archive_within(&bomb, limits).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file bomb has more than 100000 bytes: leave out what the graph does not need"
    );
    let names: Vec<String> = (0..3).map(|n| format!("f{n}")).collect();
    let many: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (&**name, &zeros[..90_000]))
        .collect();
    let error = Package::from_archive_within(&archive(&many), limits).unwrap_err();
    assert!(
        matches!(error, PackageError::TooLarge { limit: 250_000, .. }),
        "{error}"
    );
    let packed = Limits {
        archive_bytes: 100,
        ..limits
    };
    let error = Package::from_archive_within(&bomb, packed).unwrap_err();
    assert!(
        matches!(error, PackageError::TooLarge { limit: 100, .. }),
        "{error}"
    );
    let names: Vec<String> = (0..1_001).map(|n| format!("f{n}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b""[..])).collect();
    assert!(matches!(
        refused(&many),
        PackageError::TooLarge { what: "files", .. }
    ));
}

#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_refused_and_links_within_are_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("secret.py");
    fs::write(&outside, "KEY = 1").unwrap();
    let package = folder.path().join("package");
    notes().unpack(&package).unwrap();
    symlink("helpers.py", package.join("same.py")).unwrap();
    assert_eq!(
        Package::open(&package).unwrap().file("same.py"),
        Some(NOTES[2].1.as_bytes())
    );
    symlink(&outside, package.join("nodes/evil.py")).unwrap();
    assert!(matches!(
        Package::open(&package),
        Err(PackageError::Link { .. })
    ));
    fs::remove_file(package.join("nodes/evil.py")).unwrap();
    symlink(folder.path(), package.join("all")).unwrap();
    assert!(matches!(
        Package::open(&package),
        Err(PackageError::Link { .. })
    ));
}
