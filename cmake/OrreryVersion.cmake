# SPDX-License-Identifier: Apache-2.0
# `orrery --version` names the commit when it was built from a checkout.
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=10
                OUTPUT_VARIABLE ORRERY_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT ORRERY_COMMIT)
    set(ORRERY_COMMIT "unknown")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.hpp.in ${CMAKE_BINARY_DIR}/generated/orrery_version.hpp @ONLY)
include_directories(${CMAKE_BINARY_DIR}/generated)
