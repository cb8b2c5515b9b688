#!/usr/bin/env bash
# Judges the OpenAI API by the official clients for Python and Node.
#
# Needs python3 with venv, npm and cargo. Installs the clients below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$PWD/target/clients/openai
python=$folder/venv/bin/python

mkdir -p "$folder"
[ -x "$python" ] || python3 -m venv "$folder/venv"
"$python" -m pip install --quiet --disable-pip-version-check 'openai>=2,<3'
cat >"$folder/package.json" <<JSON
{ "private": true, "dependencies": { "openai": "6" } }
JSON
(cd "$folder" && npm install --no-audit --no-fund --loglevel=error)

export EASEL_CLIENTS=1 EASEL_PYTHON=$python EASEL_MODULES=$folder
cargo test -p easel-server --test server official_clients -- --nocapture
