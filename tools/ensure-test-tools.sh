#!/bin/sh
# tools/ensure-test-tools.sh: install what the tests compare with (OpenGL implementations, a GLSL reader,
# another Smith-Waterman, MPI, a window system).
has() { for file in "$@"; do [ -e "$file" ] && return 0; done; return 1; }

missing=
has /usr/lib/*/dri/swrast_dri.so /usr/lib*/dri/swrast_dri.so || missing="$missing libegl1 libgl1 libgl1-mesa-dri"
has /usr/share/vulkan/icd.d/lvp_icd*.json || missing="$missing mesa-vulkan-drivers"
command -v glslangValidator >/dev/null || missing="$missing glslang-tools"
command -v ssearch36 >/dev/null || missing="$missing fasta3"
command -v blastp >/dev/null || missing="$missing ncbi-blast+"
command -v mpiexec >/dev/null || missing="$missing openmpi-bin"
command -v xvfb-run >/dev/null || missing="$missing xvfb xauth"
for each in swiftshader angle; do
    "$(dirname "$0")/$each.sh" "${VENV:-.venv}/$each" || [ -z "$CI" ] || exit 1
done
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086  # one word a package
"$(dirname "$0")/apt-install.sh" "part of the test tools" $missing ||
    [ -z "$CI" ]  # the tests that need them say so; only the continuous integration insists
