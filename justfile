# Recipes for people who work on Easel. `just` lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

# List the recipes
default:
    @just --list --unsorted

# Run a canvas: `just run examples/hello.json Ada`
run *arguments:
    cargo run --release -- run {{arguments}}

# Run the tests
test *arguments:
    cargo test --workspace {{arguments}}

# Format, lint and document as CI does
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

# Everything CI runs
ci:
    .ci/run

# Write the generated pages of the book anew
docs:
    EASEL_WRITE=1 cargo test -p house --test book

# Run the case folders under examples/
cases:
    cargo run -q -p easel -- test examples/cases/*

# Kill a server under load 200 times, and a run of every shape at each of its events, in both databases
crash kills="200":
    EASEL_TEST_KILLS={{kills}} cargo test -p easel --test cli -- --nocapture crash:: load::

# Fuzz every parser for that many seconds each
fuzz seconds="60":
    for target in $(cargo fuzz list); do \
        mkdir -p fuzz/corpus/$target; \
        cargo fuzz run -s none $target fuzz/corpus/$target fuzz/seeds/$target -- -max_total_time={{seconds}} -timeout=10 -rss_limit_mb=1024; \
    done

# Check licences, sources and banned crates
deny:
    cargo deny check bans licenses sources

# Show what a crate is built with
tree crate:
    cargo tree -p {{crate}} -e normal
