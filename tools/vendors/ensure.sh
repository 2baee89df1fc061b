#!/bin/sh
# tools/vendors/ensure.sh FOLDER: put a Debian with other vendors' drivers there, without their devices.
# Its Mesa has shims that stand for the kernel's drivers: shaders are compiled, never run.
# MIRROR is where Debian is; by default what the machine's own apt reads. Exit status: 2 if nothing can
# be done, 1 if only the shim of some devices is missing.
set -e
folder=$1
checkout=$(dirname "$0")/../..
root=$folder/debian
log=$folder/setup.log

need() {
    echo "make vendors: $1; it needs Linux on amd64, root, debootstrap, the network and 2 GB of disk" >&2
    exit 2
}
quietly() { "$@" >>"$log" 2>&1; }
inside() { chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin DEBIAN_FRONTEND=noninteractive "$@"; }
packages() { quietly inside apt-get install -y -qq --no-install-recommends "$@"; }

[ "$(uname -sm)" = "Linux x86_64" ] || need "this is $(uname -sm)"
[ "$(id -u)" -eq 0 ] || need "you are not root"
mkdir -p "$folder"
[ -e "$root/mesa" ] || [ "$(df -Pk "$folder" | awk 'END {print $4}')" -gt 2000000 ] ||
    need "the disk is full"
command -v debootstrap >/dev/null || "$checkout/tools/apt-install.sh" debootstrap debootstrap || exit 2
# shellcheck disable=SC2016  # apt's names
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /security/ {print $2; exit}')}
[ -n "$MIRROR" ] || need "apt's sources name no Debian (say MIRROR=...)"

if [ ! -e "$root/debian" ]; then
    echo "vendors: Debian 13" >&2
    rm -rf "$root"
    quietly debootstrap --variant=minbase --include=ca-certificates,python3 trixie "$root" "$MIRROR" ||
        need "debootstrap failed, see $log"
    {
        echo "deb $MIRROR trixie main"
        echo "deb $MIRROR trixie-backports main"
        echo "deb-src $MIRROR trixie main"
    } >"$root/etc/apt/sources.list"
    # The machine's own proxies, certificates and clock hold there too.
    apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90machine" || true
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" || true
    touch "$root/debian"
fi
if [ ! -e "$root/mesa" ]; then
    echo "vendors: Mesa of backports" >&2
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    quietly inside apt-get update -qq
    packages -t trixie-backports \
        mesa-drm-shim libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libgbm1 || need "no Mesa, see $log"
    touch "$root/mesa"
fi
# shellcheck disable=SC3013  # the shells that /bin/sh is have it
if [ ! "$root/packages/stamp" -nt "$checkout/pyproject.toml" ]; then
    echo "vendors: Python packages" >&2
    version=$(inside python3 -c 'import sys; print(*sys.version_info[:2], sep=".")')
    inside python3 -c '
import sys, tomllib
project = tomllib.load(sys.stdin.buffer)["project"]
print(*project["dependencies"], *project["optional-dependencies"]["sparse"], sep="\n")' \
        <"$checkout/pyproject.toml" >"$folder/requirements.txt"
    quietly "${PYTHON:-.venv/bin/python}" -m pip install --upgrade --target "$root/packages" \
        --python-version "$version" --only-binary :all: -r "$folder/requirements.txt" ||
        need "no Python packages, see $log"
    touch "$root/packages/stamp"
fi
# Debian's package has no shim for Intel; Mesa 25.0's serves the drivers of newer ones.
if [ ! -e "$root/shims/libintel_noop_drm_shim.so" ]; then
    echo "vendors: Intel's shim, a part of Mesa that is compiled (minutes)" >&2
    # shellcheck disable=SC2015  # either may fail
    packages meson ninja-build gcc g++ pkgconf bison flex dpkg-dev xz-utils \
        python3-mako python3-yaml libdrm-dev libexpat1-dev zlib1g-dev &&
    quietly inside sh -ec '
        rm -rf /mesa-source; mkdir -p /mesa-source /shims; cd /mesa-source
        apt-get source -qq --tar-only --download-only mesa/trixie
        tar -xf mesa_*.orig.tar.* --strip-components 1
        meson setup build --buildtype release -Dgallium-drivers= -Dvulkan-drivers= -Dplatforms= \
            -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dgles1=disabled -Dgles2=disabled -Dopengl=false \
            -Dllvm=disabled -Dtools=drm-shim,intel -Dbuild-tests=false -Dvideo-codecs=
        nice ninja -C build src/intel/tools/libintel_noop_drm_shim.so
        cp build/src/intel/tools/libintel_noop_drm_shim.so /shims
        rm -rf /mesa-source' || {
        echo "vendors: no shim for Intel's devices, see $log" >&2
        exit 1
    }
fi
