//! Who may use whom. The table is the architecture: a new arrow is a decision, made here and in `docs/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Every crate of the workspace and the crates of the workspace that it may use.
///
/// Only what a crate is built with counts: its tests may use more.
const HOUSE: &[(&str, &[&str])] = &[
    ("easel-core", &[]),
    ("easel-catalog", &["easel-core"]),
    ("easel-canvas", &["easel-core", "easel-catalog"]),
    ("easel-graph", &["easel-core", "easel-catalog"]),
    (
        "easel-convert",
        &["easel-core", "easel-catalog", "easel-canvas", "easel-graph"],
    ),
    // The check says where in the file something is wrong, and what was rewritten: that is the dialect's to know.
    (
        "easel-check",
        &["easel-core", "easel-catalog", "easel-canvas", "easel-graph"],
    ),
    ("easel-secrets", &["easel-core"]),
    ("easel-models", &["easel-core", "easel-secrets"]),
    ("easel-tools", &["easel-core", "easel-secrets"]),
    ("easel-knowledge", &["easel-core", "easel-tools"]),
    ("easel-documents", &["easel-core", "easel-tools"]),
    ("easel-sandbox", &["easel-core"]),
    ("easel-mail", &["easel-secrets", "easel-tools"]),
    ("easel-mcp", &["easel-core", "easel-tools"]),
    ("easel-browser", &["easel-tools"]),
    ("easel-sql", &["easel-core", "easel-secrets", "easel-tools"]),
    (
        "easel-components",
        &[
            "easel-core",
            "easel-catalog",
            "easel-secrets",
            "easel-models",
            "easel-tools",
        ],
    ),
    (
        "easel-runtime",
        &[
            "easel-core",
            "easel-catalog",
            "easel-canvas",
            "easel-graph",
            "easel-check",
            "easel-secrets",
            "easel-models",
            "easel-tools",
            "easel-sandbox",
            "easel-components",
        ],
    ),
    (
        "easel-store",
        &["easel-core", "easel-secrets", "easel-runtime"],
    ),
    ("easel-server", &["easel-runtime", "easel-store"]),
    // The binary uses the library as anybody else would, and the words of the crates below it.
    (
        "easel",
        &[
            "easel-core",
            "easel-catalog",
            "easel-canvas",
            "easel-graph",
            "easel-convert",
            "easel-check",
            "easel-secrets",
            "easel-models",
            "easel-tools",
            "easel-sandbox",
            "easel-components",
            "easel-runtime",
            "easel-knowledge",
            "easel-documents",
            "easel-browser",
            "easel-mail",
            "easel-mcp",
            "easel-sql",
            "easel-store",
            "easel-server",
        ],
    ),
];

/// Members of the workspace that nobody uses: tests and measurements.
const BESIDE: &[&str] = &[
    "benches",
    "house",
    "mariadb-for-tests",
    "postgres-for-tests",
];

/// What the core may be built with, beside nothing of ours.
const CORE_USES: &[&str] = &[
    "indexmap",
    "rustc-hash",
    "serde",
    "serde_json",
    "smallvec",
    "thiserror",
];

/// What the core must not bring in, not even through somebody else: I/O, time, chance, other threads of control.
const CORE_NEVER: &[&str] = &[
    "async-io",
    "async-std",
    "chrono",
    "crossbeam-channel",
    "fastrand",
    "futures",
    "futures-core",
    "getrandom",
    "hyper",
    "jiff",
    "mio",
    "parking_lot",
    "rand",
    "rand_core",
    "rayon",
    "reqwest",
    "rustls",
    "socket2",
    "sqlx",
    "time",
    "tokio",
    "uuid",
];

/// What a program that embeds the library gets only if it asks for it.
const LIBRARY_NEVER: &[&str] = &[
    "aws-lc-sys",
    "axum",
    "hyper",
    "openssl-sys",
    "reqwest",
    "ring",
    "rusqlite",
    "rustls",
    "sqlx",
    "tokio",
];

fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root)
        .output()
        .expect("cargo starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

/// The members of the workspace with the crates each is built with, as their manifests say.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo metadata is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let member = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let built_with = dependencies.iter().filter(|d| d["kind"] != "dev");
        (
            text(&package["name"]),
            built_with.map(|d| text(&d["name"])).collect(),
        )
    };
    packages.iter().map(member).collect()
}

/// Everything a crate is built with when it is built alone, at any depth.
fn closure(package: &str) -> BTreeSet<String> {
    let tree = cargo(&[
        "tree",
        "-p",
        package,
        "-e",
        "normal,build",
        "--prefix",
        "none",
    ]);
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    tree.lines().map(name).collect()
}

fn assert_none(package: &str, never: &[&str]) {
    let built_with = closure(package);
    let found: Vec<_> = never.iter().filter(|n| built_with.contains(**n)).collect();
    assert!(
        found.is_empty(),
        "{package} brings in {found:?}; `cargo tree -p {package} -i NAME` says through whom"
    );
}

#[test]
fn every_crate_has_its_place_in_the_house() {
    let known: BTreeSet<&str> = HOUSE.iter().map(|(name, _)| *name).collect();
    for member in members().keys() {
        assert!(
            known.contains(&**member) || BESIDE.contains(&&**member),
            "{member} is no crate of the house; give it a line in HOUSE and in docs/architecture.md"
        );
    }
}

#[test]
fn crates_use_only_whom_they_may() {
    let members = members();
    for (name, may_use) in HOUSE {
        let Some(uses) = members.get(*name) else {
            panic!("{name} stands in HOUSE but is no member of the workspace");
        };
        for used in uses.iter().filter(|used| members.contains_key(*used)) {
            assert!(
                may_use.contains(&&**used),
                "{name} uses {used}, which it must not: the arrow is not in HOUSE"
            );
        }
    }
}

#[test]
fn arrows_lead_downwards_only() {
    let mut below = BTreeSet::new();
    for (name, may_use) in HOUSE {
        for used in *may_use {
            assert!(below.contains(used), "{name} stands above {used} in HOUSE");
        }
        below.insert(*name);
    }
}

#[test]
fn nobody_is_built_with_what_stands_beside_the_house() {
    for (name, uses) in members() {
        for beside in BESIDE {
            assert!(!uses.contains(*beside), "{name} uses {beside}");
        }
    }
}

#[test]
fn the_core_has_no_io_clock_chance_or_threads() {
    let uses = &members()["easel-core"];
    let may_use: BTreeSet<String> = CORE_USES.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(
        *uses, may_use,
        "what the core is built with has changed; is the new crate a pure function of its arguments?"
    );
    assert_none("easel-core", CORE_NEVER);
}

#[test]
fn embedding_the_library_brings_no_server_database_or_tls() {
    assert_none("easel-runtime", LIBRARY_NEVER);
}
