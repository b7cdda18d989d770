# SPDX-License-Identifier: Apache-2.0
# orrery_precompile(TARGET [HEADER ...]): the headers that most of its files include are parsed once. It halves a build
# from nothing and hides a forgotten #include, so it is for scripts/build.sh; whoever works on the code builds without.
option(ORRERY_PRECOMPILE "Parse common headers once per target" OFF)

set(ORRERY_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
    <numeric> <optional> <set> <span> <sstream> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h>)

function(orrery_precompile target)
    if(ORRERY_PRECOMPILE)
        target_precompile_headers(${target} PRIVATE ${ORRERY_COMMON_HEADERS} ${ARGN})
        # GCC 12 takes std::string's own copies for overruns once its header comes precompiled.
        target_compile_options(${target} PRIVATE
            "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
    endif()
endfunction()
