# SPDX-License-Identifier: Apache-2.0
# orrery_page_bundle(TARGET): the JavaScript of the pages (web/, with its libraries from npm) becomes part of TARGET.
# Without npm, or without access to its registry, the bundle is empty: the build goes on, and `orrery report` says why
# it makes no pages. The next build tries again.
function(orrery_page_bundle target)
    set(bundle ${CMAKE_BINARY_DIR}/web/page.js)
    find_program(ORRERY_NPM npm)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*.js ${CMAKE_SOURCE_DIR}/web/src/*.css)
    add_custom_command(OUTPUT ${bundle}
        COMMAND ${CMAKE_COMMAND} -DNPM=${ORRERY_NPM} -DSOURCE=${CMAKE_SOURCE_DIR}/web -DBUILD=${CMAKE_BINARY_DIR}/web
                -DBUNDLE=${bundle} -P ${CMAKE_SOURCE_DIR}/cmake/bundle_page.cmake
        DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/web/package-lock.json ${CMAKE_SOURCE_DIR}/cmake/bundle_page.cmake
        COMMENT "Bundling the pages' charts" VERBATIM)
    set(source ${CMAKE_BINARY_DIR}/generated/page_bundle.cpp)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/page_bundle.cpp.in ${source} @ONLY)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${bundle})
    target_sources(${target} PRIVATE ${source} ${bundle})
endfunction()
