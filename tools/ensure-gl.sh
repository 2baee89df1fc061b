#!/bin/sh
# tools/ensure-gl.sh COMMAND...: where COMMAND finds no OpenGL device (status 2), install Mesa's software one.
message=$("$@" 2>&1)
status=$?
if [ $status -eq 2 ]; then
    "$(dirname "$0")/apt-install.sh" "an OpenGL driver (of a GPU, or Mesa's EGL, GL and llvmpipe)" \
        libegl1 libgl1 libgl1-mesa-dri || exit 1
    message=$("$@" 2>&1)
    status=$?
fi
[ $status -eq 0 ] || printf '%s\n' "$message" >&2
exit $status
