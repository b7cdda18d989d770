# SPDX-License-Identifier: Apache-2.0
# Language, warnings and sanitizers. Results must not depend on fused multiply-add, so contraction is off.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

option(ORRERY_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ORRERY_NATIVE_TUNING "Tune for this machine (-march=native); results are unchanged, binaries are not portable" OFF)

add_library(orrery_flags INTERFACE)
target_compile_options(orrery_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
    # a designated initializer leaves the other members at their defaults on purpose
    -Wno-missing-field-initializers -ffp-contract=off)
target_include_directories(orrery_flags INTERFACE ${CMAKE_SOURCE_DIR})
# Debian's mpi.h otherwise drags in the removed C++ bindings and their warnings.
target_compile_definitions(orrery_flags INTERFACE OMPI_SKIP_MPICXX=1)
target_compile_definitions(orrery_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(ORRERY_NATIVE_TUNING)
    target_compile_options(orrery_flags INTERFACE -march=native)
endif()
if(ORRERY_SANITIZE)
    target_compile_options(orrery_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(orrery_flags INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
    add_link_options(-fuse-ld=mold)
endif()
