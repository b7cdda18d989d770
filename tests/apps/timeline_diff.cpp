// SPDX-License-Identifier: Apache-2.0
// timeline_diff A B: prints the first difference of two timelines outside /run and exits 1, or exits 0.
#include "io/timeline/compare.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: timeline_diff A.h5 B.h5\n", stderr);
        return 2;
    }
    try {
        auto const difference = orrery::content_difference(argv[1], argv[2]);
        if (difference.empty()) return 0;
        std::printf("%s\n", difference.c_str());
        return 1;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
