#!/usr/bin/env bash
# Judges Easel as a client of MCP servers: by the conformance suite of the Model Context Protocol, whose servers it calls with
# `easel mcp`, and by two servers that many people use.
#
# Needs npm, python3 and cargo. Installs the suite, Node 22 and the servers below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
folder=$root/target/clients/mcp_client
target=${CARGO_TARGET_DIR:-$root/target}
easel=$target/debug/easel

mkdir -p "$folder"
cat >"$folder/package.json" <<JSON
{
  "private": true,
  "dependencies": {
    "node": "22",
    "conformance": "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/server-everything": "*",
    "@modelcontextprotocol/server-filesystem": "*"
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
cargo build --quiet -p easel

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

judge() {
    local name=$1
    shift
    echo "== $name"
    if ! "$node" "$folder/node_modules/conformance/dist/index.js" client \
        --command "python3 $root/tests/clients/mcp_client.py $easel" "$@" >log 2>&1; then
        failed=1
        echo "-- $name failed:"
        cat log
    else
        sed -n 's/^\(Total: .*\|Passed: .*\)$/   \1/p' log
    fi
}

judge "what 2026-07-28 requires" --requirements 2026-07-28 \
    --expected-failures "$root/tests/clients/mcp-client-expected.yml"
# What earlier revisions ask for beyond that.
for scenario in initialize sse-retry; do
    judge "$scenario" --scenario "$scenario"
done

# told WHAT EXPECTED COMMAND...: runs a command, which must say what is expected.
told() {
    local what=$1 expected=$2 out
    shift 2
    out=$("$@" 2>&1) || true
    if [[ $out == *"$expected"* ]]; then
        echo "$what: ok"
    else
        failed=1
        printf -- '-- %s failed, for it says:\n%s\n' "$what" "$out"
    fi
}

servers=$folder/node_modules/@modelcontextprotocol
mkdir kept
echo "Bring milk." >kept/notes.md
cat >easel.toml <<TOML
[mcp.files]
command = "$node"
args = ["$servers/server-filesystem/dist/index.js", "$work/kept"]

[mcp.everything]
command = "$node"
args = ["$servers/server-everything/dist/index.js", "stdio"]
env = { TOKEN = "\${EVERYTHING_TOKEN}" }
TOML
export EVERYTHING_TOKEN=never-to-be-shown
told "server-filesystem lists" read_text_file "$easel" mcp list files
told "server-filesystem reads" "Bring milk." "$easel" mcp call files read_text_file "path=$work/kept/notes.md"
told "server-filesystem refuses" "outside allowed" "$easel" mcp call files read_text_file path=/etc/passwd
told "server-everything counts" "is 7" "$easel" mcp call everything get-sum a=3 b=4
told "server-everything shows a picture" '"image/png"' "$easel" mcp call everything get-tiny-image --json
told "server-everything is told a secret that nobody sees" '"TOKEN": "••••••"' "$easel" mcp call everything get-env
exit $failed
