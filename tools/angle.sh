#!/bin/sh
# tools/angle.sh FOLDER: put ANGLE, an OpenGL ES on SwiftShader, of the npm package @sparticuz/chromium there.
set -e
folder=$1
[ -e "$folder/libGLESv2.so" ] && exit 0
if ! command -v npm >/dev/null; then
    echo "ANGLE is missing: no npm to download @sparticuz/chromium with" >&2
    exit 1
fi
echo "ANGLE is missing; downloading @sparticuz/chromium for it" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent @sparticuz/chromium >/dev/null) || {
    echo "npm could not download @sparticuz/chromium: no ANGLE" >&2
    exit 1
}
tar -x -z -C "$work" -f "$work"/sparticuz-chromium-*.tgz package/bin/swiftshader.tar.br
node -e 'process.stdin.pipe(require("zlib").createBrotliDecompress()).pipe(process.stdout)' \
    <"$work/package/bin/swiftshader.tar.br" >"$work/swiftshader.tar"
mkdir -p "$folder"
tar -x -C "$folder" -f "$work/swiftshader.tar"
