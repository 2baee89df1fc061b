#!/bin/sh
# tools/vendors/run.sh DEVICE COMMAND...: run a command before the driver of a device of devices.txt;
# DEVICE-es opens its OpenGL ES instead of OpenGL.
# Nothing is computed there: programs are compiled, buffers read as zeros or as anything.
set -e
checkout=$(cd "$(dirname "$0")/../.." && pwd)
root=$checkout/.vendors/debian
device=${1%-es}
es=
[ "$1" = "$device" ] || es=MESA_GL_VERSION_OVERRIDE=3.3 # too old, so that ES is opened
shift
read -r shim variable <<END
$(awk -v name="$device" '$1 == name {print $2, $3}' "$checkout/tools/vendors/devices.txt")
END
[ -n "$shim" ] || { echo "run.sh: no device '$device' in tools/vendors/devices.txt" >&2; exit 2; }
[ -e "$root/packages/stamp" ] || { echo "run.sh: first: make vendors" >&2; exit 2; }
library=$(cd "$root" && ls shims/lib"$shim"_noop_drm_shim.so usr/lib/*/lib"$shim"_noop_drm_shim.so 2>/dev/null) ||
    true
[ -n "$library" ] || { echo "run.sh: no shim for $device: make vendors" >&2; exit 2; }
case $shim in
    radeon) variable="$variable MESA_LOADER_DRIVER_OVERRIDE=r600" ;;
    freedreno) variable="$variable FD_MESA_DEBUG=shaderdb" ;; # it tells statistics only then
    asahi) variable= ;;
esac
mkdir -p "$root/project"
# Statistics come as debug messages, which threads of the driver leave out.
# shellcheck disable=SC2016,SC2086
exec unshare --mount sh -ec '
    root=$1 checkout=$2
    shift 2
    mount --bind "$checkout" "$root/project"
    mount -t proc proc "$root/proc"
    exec chroot "$root" env -i "$@"' sh "$root" "$checkout" \
    PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 PYTHONPATH=/project:/packages \
    PYTHONDONTWRITEBYTECODE=1 LP_NUM_THREADS=1 GALLIUM_THREAD=0 MESA_SHADER_CACHE_DISABLE=true \
    "LD_PRELOAD=/$library" $variable $es sh -c 'cd /project && exec "$@"' sh "$@"
