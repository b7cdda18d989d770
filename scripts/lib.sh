# SPDX-License-Identifier: Apache-2.0
# What the scripts share; to be sourced. Sets `root` (the checkout).
# shellcheck shell=bash
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# can_write DIR: DIR, or the nearest parent of it that exists, can be written by this user.
can_write() {
    local path=$1
    while [ ! -e "$path" ]; do path=$(dirname -- "$path"); done
    [ -d "$path" ] && [ -w "$path" ]
}

# writable NAME: ROOT/NAME, or when this user may not write there (somebody else's checkout) a place of his own.
writable() {
    if can_write "$root/$1"; then
        printf '%s\n' "$root/$1"
        return
    fi
    local cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
    can_write "$cache" || cache=${TMPDIR:-/tmp}/cache-$(id -u)
    printf '%s\n' "$cache/orrery$root/$1"
}

# packages USE...: the packages of dependencies.txt with one of these uses.
packages() {
    local uses=" $* " package use _
    while read -r package use _; do
        case $package in '' | '#'*) continue ;; esac
        if [[ $uses == *" $use "* ]]; then printf '%s\n' "$package"; fi
    done <"$root/scripts/dependencies.txt"
}

# How many compilers run at once: one per core and per GiB of free memory.
compile_jobs() {
    local cores gib
    cores=$(nproc)
    gib=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
    [ "${gib:-0}" -ge 1 ] || gib=1
    printf '%s\n' "$((cores < gib ? cores : gib))"
}
