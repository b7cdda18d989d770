#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian package; prints its path. Install it with: apt-get install ./orrery_VERSION_ARCH.deb
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/setup.sh" package
build=$("$root/scripts/build.sh" orrery)
package=$build/package
rm -rf "$package"
(cd "$build" && cpack -G DEB -B "$package") >&2
ls "$package"/*.deb
