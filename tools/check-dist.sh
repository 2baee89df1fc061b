#!/bin/sh
# check-dist.sh PYTHON ARCHIVE...: install each archive into an empty environment, and use it there.
set -eu
python=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH

for archive in "$@"; do
    archive=$(realpath "$archive")
    rm -rf "$folder/env"
    "$python" -m venv "$folder/env"
    "$folder/env/bin/python" -m pip install --quiet --disable-pip-version-check "$archive"
    (
        cd "$folder"
        printf '>query\nHEAGAWGHEE\n' >query.fasta
        printf '>near\nPAWHEAE\n>far\nPPPPPP\n' >db.fasta
        env/bin/glsw --version
        env/bin/glsw search query.fasta db.fasta --engine reference --format tsv >hits.tsv
        grep -q near hits.tsv
        env/bin/glsw search query.fasta db.fasta --engine reference --format html | grep -q '</html>'
        env/bin/python -c "
import glsw
from glsw.device import shader
assert glsw.score('HEAGAWGHEE', 'PAWHEAE', engine='reference') == 17
assert list(shader.root().glob('*')), 'no shaders'"
        for page in share/man/man1/glsw-search.1 share/bash-completion/completions/glsw \
            share/zsh/site-functions/_glsw share/fish/vendor_completions.d/glsw.fish; do
            test -s "env/$page"
        done
    )
    echo "$(basename "$archive") works"
done
