#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: setup.sh [test|package|lint ...]
# Installs the Debian packages of scripts/dependencies.txt that are missing: those to build and run, and those of the
# uses named. Asks nothing; does nothing when nothing is missing. npm, and for test chromium, are wished for only: where
# they cannot be had, it says so and ends well.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

for use in "$@"; do
    case $use in
        test | package | lint) ;;
        *) fail "setup.sh: unknown use '$use' (there are test, package and lint)" ;;
    esac
done
mapfile -t wanted < <(packages build run "$@")
# A command that is there may come from elsewhere than Debian's package, and then must not be replaced.
wished=()
command -v npm >/dev/null || mapfile -t -O "${#wished[@]}" wished < <(packages web)
if [[ " $* " == *" test "* ]]; then
    command -v chromium >/dev/null || mapfile -t -O "${#wished[@]}" wished < <(packages browser)
fi

by_hand="install what scripts/dependencies.txt lists with this system's means, then 'cmake --preset release'"
command -v dpkg-query >/dev/null || fail "No dpkg-query (this is not a Debian system): $by_hand."
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort) <(
    { dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true; } |
        awk '$2 == "installed" { print $1 }' | sort -u))
[ $((${#missing[@]} + ${#wished[@]})) -gt 0 ] || exit 0

if [ ${#missing[@]} -eq 0 ]; then
    fail() {
        say "$*"
        say "Going on without ${wished[*]}."
        exit 0
    }
fi
command -v apt-get >/dev/null || fail "No apt-get to install ${missing[*]} ${wished[*]}: $by_hand."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    ask="run this as root once: apt-get install ${missing[*]} ${wished[*]}"
    command -v sudo >/dev/null || fail "Packages are missing, and this is neither root nor a user with sudo: $ask"
    sudo -n true 2>/dev/null || [ -t 0 ] || fail "Packages are missing, and sudo wants a password but there is no terminal: $ask"
    as_root=(sudo)
fi
# --no-remove: Boost 1.81 conflicts with other versions of its -dev packages; never take those away unasked.
get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y -q)
say "Installing $((${#missing[@]} + ${#wished[@]})) packages: ${missing[*]} ${wished[*]}"
"${get[@]}" update >&2 || say "apt-get update failed; trying with the package lists that are there."
[ ${#missing[@]} -eq 0 ] || "${get[@]}" install --no-install-recommends --no-remove "${missing[@]}" >&2 ||
    fail "apt-get could not install ${missing[*]} (its own message is above; Orrery is built on Debian 12, bookworm)."
for package in "${wished[@]}"; do
    "${get[@]}" install --no-install-recommends --no-remove "$package" >&2 || say "Going on without $package."
done
