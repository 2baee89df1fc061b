#!/bin/sh
# tools/ensure-venv.sh PYTHON FOLDER: make a virtual environment for glsw.
set -e
python=$1
folder=$2
here=$(dirname "$0")
command -v "$python" >/dev/null ||
    "$here/apt-install.sh" "Python" python3 python3-venv
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "glsw needs Python 3.10 or newer, this is $("$python" --version); name another one: make PYTHON=python3.12 ..." >&2
    exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    "$here/apt-install.sh" "Python's venv module" python3-venv
"$python" -m venv "$folder" || {
    rm -rf "$folder"
    exit 1
}
