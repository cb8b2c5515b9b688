#!/usr/bin/env bash
# Judges the canvas API by RAGFlow's own client for Python: an agent of each template is made, asked, listed and deleted.
#
# Needs python3 with venv and cargo. Installs the client below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$PWD/target/clients/ragflow-sdk
python=$folder/bin/python

[ -x "$python" ] || python3 -m venv "$folder"
# It asks for the newest Python and runs on older ones.
"$python" -m pip install --quiet --disable-pip-version-check requests beartype
"$python" -m pip install --quiet --disable-pip-version-check --ignore-requires-python --no-deps 'ragflow-sdk==0.27.*'

export EASEL_CLIENTS=1 EASEL_PYTHON=$python
cargo test -p easel-server --test server the_python_client -- --nocapture
