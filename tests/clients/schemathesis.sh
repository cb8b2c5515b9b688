#!/usr/bin/env bash
# Judges the API by its own description: what schemathesis makes up for every route must get no 5xx, and only answers that the
# description knows.
#
#   tests/clients/schemathesis.sh            starts `easel serve` over a folder of its own
#   tests/clients/schemathesis.sh URL KEY    a running server, with a key of all scopes that it may use up
#
# EASEL_EXAMPLES says how many requests are made up for a route (default 25). Needs python3 with venv; installs schemathesis
# below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

version=4.32.5
folder=$root/target/clients/schemathesis
program=$folder/bin/schemathesis
if [ "$("$program" --version 2>/dev/null)" != "schemathesis, version $version" ]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

work=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

if [ $# -ge 2 ]; then
    url=$1
    key=$2
else
    easel=${EASEL:-$root/target/debug/easel}
    [ -x "$easel" ] || cargo build -q -p easel
    echo '{"default_reply": "ok"}' >"$work/world.json"
    "$easel" serve --data "$work/data" --listen 127.0.0.1:0 --world "$work/world.json" >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/.*\(http:\/\/127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/log" | head -n 1)
        [ -n "$url" ] && break
        sleep 0.1
    done
    if [ -z "${url:-}" ]; then
        cat "$work/log" >&2
        exit 1
    fi
    body='{"owner": "local", "name": "schemathesis", "scopes": ["read", "run", "write", "admin"]}'
    key=$(curl -sS -H 'Content-Type: application/json' -d "$body" "$url/v1/keys" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
fi

# Something that is there, so that the judge gets behind the ids: a graph, a run of it, a conversation.
post() {
    curl -sS -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$2" "$url$1"
}
member() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}
graph='{"name": "judged", "graph": {"name": "judged", "nodes": [{"id": "a", "kind": "output", "value": "b"}]}}'
agent=$(post /v1/workflows "$graph" | member id)
run=$(post /v1/workflows/judged/runs '{"wait": true}' | member id)
session=$(post "/v1/agents/$agent/sessions" '{}' | member id)

# Some requests would lock out the judge or take away what is judged.
cat >"$work/odd.toml" <<'TOML'
[[operations]]
include-path = "/mcp"
enabled = false

[[operations]]
include-method = "DELETE"
include-path-regex = "^/v1/keys"
enabled = false
TOML
cat "$work/odd.toml" - >"$work/known.toml" <<TOML

[[operations]]
include-path-regex = "^/v1/runs/"
parameters = { "path.id" = "$run", "path.node" = "a" }

[[operations]]
include-path-regex = "^/v1/workflows/"
parameters = { "path.name" = "judged" }

[[operations]]
include-path-regex = "^/v1/agents/"
parameters = { "path.id" = "$agent" }

[[operations]]
include-path-regex = "^/v1/sessions/"
parameters = { "path.id" = "$session" }
TOML

# What everybody must keep to.
strict=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance
strict=$strict,response_schema_conformance
# What our own API keeps to besides. The forms of others answer 200 with a code, and take more than they say.
ours=$strict,negative_data_rejection,missing_required_header,unsupported_method,ignored_auth
own='^/(v1/(workflows|agents|sessions|runs|keys)|healthz|readyz|openapi)'

# judge CONFIGURATION ARGUMENT...
judge() {
    local configuration="$1"
    shift
    "$program" --config-file "$configuration" run "$url/openapi.json" \
        -H "Authorization: Bearer $key" --request-timeout 20 --workers 1 --no-color \
        --max-examples "${EASEL_EXAMPLES:-25}" --generation-database none --continue-on-failure \
        --suppress-health-check all --warnings off "$@"
}
status=0
echo '== ids that are made up'
# What is wrong with a workflow is what `validate` answers with 200.
judge "$work/odd.toml" --checks "$ours" --include-path-regex "$own" --exclude-path /v1/workflows/validate || status=$?
echo '== ids of what is there'
judge "$work/known.toml" --checks "$strict" --include-path-regex '^/v1/(workflows|agents|sessions|runs)/' \
    --exclude-method DELETE --phases coverage,fuzzing || status=$?
echo '== the forms of others'
judge "$work/odd.toml" --checks "$strict" --exclude-path-regex "$own" || status=$?
exit "$status"
