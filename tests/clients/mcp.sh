#!/usr/bin/env bash
# Judges the MCP server by the conformance suite of the Model Context Protocol, and by the official client for Python.
#
#   tests/clients/mcp.sh          the server with the suite's tools, in the revisions that Easel promises; then the client
#   tests/clients/mcp.sh URL      a running Easel server: the scenarios that ask for no tools of their own
#
# Needs npm, python3 with venv, and cargo. Installs the suite, Node 22 and the client below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

# The released suite knows no revision after 2025-11-25; the other one is the newest that knows 2026-07-28.
stable=0.1.16
next=0.2.0-alpha.12
folder=$root/target/clients/mcp
expected=$root/tests/clients/mcp-expected.yml

mkdir -p "$folder"
cat >"$folder/package.json" <<JSON
{
  "private": true,
  "dependencies": {
    "node": "22",
    "conformance-stable": "npm:@modelcontextprotocol/conformance@$stable",
    "conformance-next": "npm:@modelcontextprotocol/conformance@$next"
  }
}
JSON
(cd "$folder" && npm install --no-audit --no-fund --loglevel=error)
node=$folder/node_modules/.bin/node
"$node" --version >/dev/null 2>&1 || node=$(command -v node)
major=$("$node" --version | sed 's/^v\([0-9]*\).*/\1/')
if [ "$major" -lt 22 ]; then
    echo "The suite needs Node 22 or later; $node is $("$node" --version)." >&2
    exit 1
fi

# The suite writes its results beside where it runs.
results=$(mktemp -d)
server=
trap 'rm -rf "$results"; [ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
cd "$results"

failed=0
judge() {
    local suite=$1 name=$2
    shift 2
    echo "== $name"
    if ! "$node" "$folder/node_modules/conformance-$suite/dist/index.js" server --url "$url" "$@" >log 2>&1; then
        failed=1
        echo "-- $name failed:"
        cat log
    else
        sed -n 's/^\(Total: .*\|Passed: .*\)$/   \1/p' log
    fi
}

if [ $# -gt 0 ]; then
    url=$1
    for scenario in server-initialize server-session-lifecycle ping tools-list dns-rebinding-protection; do
        for revision in 2025-06-18 2025-11-25; do
            judge next "$scenario in $revision" --scenario "$scenario" --spec-version "$revision"
        done
    done
    for scenario in tools-list dns-rebinding-protection http-header-validation server-sse-multiple-streams; do
        judge next "$scenario in 2026-07-28" --scenario "$scenario" --spec-version 2026-07-28
    done
    exit $failed
fi

(cd "$root" && cargo build --quiet -p easel-server --example mcp_conformance)
"${CARGO_TARGET_DIR:-$root/target}/debug/examples/mcp_conformance" 127.0.0.1:0 >address &
server=$!
for _ in $(seq 100); do
    [ -s address ] && break
    sleep 0.1
done
url=$(head -n 1 address)

judge next "what 2026-07-28 requires" --requirements 2026-07-28
judge next "what 2025-11-25 requires" --requirements 2025-11-25
judge next "2025-06-18" --spec-version 2025-06-18
judge stable "the released suite" --suite all
# Run with the above and not counted there.
for scenario in json-schema-2020-12 http-header-validation http-custom-header-server-validation; do
    judge next "$scenario" --scenario "$scenario" --spec-version 2026-07-28
done
for scenario in server-session-lifecycle server-sse-polling; do
    judge next "$scenario" --scenario "$scenario" --spec-version 2025-11-25
done
# The extension for tasks. What Easel has no use for is listed with its reason.
for scenario in lifecycle capability-negotiation wire-fields request-state-removal mrtr-input \
    request-headers dispatch-and-envelope required-task-error mrtr-composition; do
    judge next "tasks: $scenario" --scenario "tasks-$scenario" --expected-failures "$expected"
done

python=$folder/venv/bin/python
[ -x "$python" ] || python3 -m venv "$folder/venv"
"$python" -m pip install --quiet --disable-pip-version-check 'mcp>=2,<3'
echo "== the client for Python"
(cd "$root" && EASEL_MCP_PYTHON=$python cargo test --quiet -p easel-server --test server official_mcp_client -- --nocapture) || failed=1
exit $failed
