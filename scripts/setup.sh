#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: setup.sh [test|package|lint ...]
# Installs the Debian packages of scripts/dependencies.txt that are missing: those to build and run, and those of the
# uses named. Asks nothing; does nothing when nothing is missing.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

for use in "$@"; do
    case $use in
        test | package | lint) ;;
        *) fail "setup.sh: unknown use '$use' (there are test, package and lint)" ;;
    esac
done
mapfile -t wanted < <(packages build run "$@")

by_hand="install what scripts/dependencies.txt lists with this system's means, then 'cmake --preset release'"
command -v dpkg-query >/dev/null || fail "No dpkg-query (this is not a Debian system): $by_hand."
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort) <(
    { dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true; } |
        awk '$2 == "installed" { print $1 }' | sort -u))
[ ${#missing[@]} -gt 0 ] || exit 0

command -v apt-get >/dev/null || fail "No apt-get to install ${missing[*]}: $by_hand."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    ask="run this as root once: apt-get install ${missing[*]}"
    command -v sudo >/dev/null || fail "Packages are missing, and this is neither root nor a user with sudo: $ask"
    sudo -n true 2>/dev/null || [ -t 0 ] || fail "Packages are missing, and sudo wants a password but there is no terminal: $ask"
    as_root=(sudo)
fi
# --no-remove: Boost 1.81 conflicts with other versions of its -dev packages; never take those away unasked.
get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y -q)
say "Installing ${#missing[@]} packages: ${missing[*]}"
"${get[@]}" update >&2 || say "apt-get update failed; trying with the package lists that are there."
"${get[@]}" install --no-install-recommends --no-remove "${missing[@]}" >&2 ||
    fail "apt-get could not install ${missing[*]} (its own message is above; Orrery is built on Debian 12, bookworm)."
