// SPDX-License-Identifier: Apache-2.0
// Preloaded by tests: a file system that knows no locks, like Lustre mounted without them.
#include <cerrno>

extern "C" int flock(int, int) {
    errno = ENOLCK;
    return -1;
}
