#!/bin/sh
# tools/apt-install.sh PURPOSE PACKAGE...: install Debian packages, or say in one line what is missing.
purpose=$1
shift
if ! command -v apt-get >/dev/null; then
    echo "$purpose is missing; please install it (on Debian and Ubuntu: apt install $*)" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "$purpose is missing; please run as root: apt-get install $*" >&2
        exit 1
    fi
    sudo=sudo
fi
echo "$purpose is missing; installing $*" >&2
install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
        -o Dpkg::Use-Pty=0 >/dev/null 2>&1
}
# A fresh or an old package index cannot find the files: read it and try once more.
install "$@" || { $sudo apt-get update -qq >/dev/null 2>&1; install "$@"; } || {
    echo "apt-get could not install $*; please install $purpose yourself" >&2
    exit 1
}
