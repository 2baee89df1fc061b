#!/bin/sh
# tools/swiftshader.sh FOLDER: put SwiftShader, a Vulkan renderer of Debian's package chromium-common, there.
set -e
folder=$1
[ -e "$folder/vk_swiftshader_icd.json" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "SwiftShader is missing: no apt-get to download Debian's chromium-common with" >&2
    exit 1
fi
echo "SwiftShader is missing; downloading Debian's chromium-common for it" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fetch() { (cd "$work" && apt-get download -qq chromium-common >/dev/null 2>&1); }
fetch || { apt-get update -qq >/dev/null 2>&1 && fetch; } || {
    echo "apt-get could not download chromium-common: no SwiftShader" >&2
    exit 1
}
mkdir -p "$folder"
dpkg-deb --fsys-tarfile "$work"/chromium-common_*.deb |
    tar -x -C "$work" --wildcards './usr/lib/chromium/*swiftshader*'
mv "$work"/usr/lib/chromium/libvk_swiftshader.so "$folder"
mv "$work"/usr/lib/chromium/vk_swiftshader_icd.json "$folder"
