# SPDX-License-Identifier: Apache-2.0
# Run by the build: fetches what web/package-lock.json pins and bundles web/src into one file. Never fails: where it
# cannot, it says so and leaves an empty bundle.
set(libraries ${BUILD}/node_modules)

function(leave_without why)
    message(NOTICE "No pages in this build (${why}): `orrery report` will say so; everything else works.")
    file(WRITE ${BUNDLE} "")
    # Older than its sources, so that the next build tries again.
    execute_process(COMMAND touch -d 2000-01-01 ${BUNDLE})
endfunction()

file(MAKE_DIRECTORY ${BUILD})
if(NOT NPM)
    leave_without("npm was not found")
    return()
endif()
file(SHA256 ${SOURCE}/package-lock.json wanted)
set(have "")
if(EXISTS ${libraries}/.lock)
    file(READ ${libraries}/.lock have)
endif()
if(NOT have STREQUAL wanted)
    configure_file(${SOURCE}/package.json ${BUILD}/package.json COPYONLY)
    configure_file(${SOURCE}/package-lock.json ${BUILD}/package-lock.json COPYONLY)
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries 1
                    WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
        file(WRITE ${BUILD}/npm.log "${said}")
        leave_without("npm ci failed, see ${BUILD}/npm.log")
        return()
    endif()
    file(WRITE ${libraries}/.lock ${wanted})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${libraries} ${libraries}/.bin/esbuild
                        ${SOURCE}/src/main.js --bundle --minify --format=iife --target=es2020 --loader:.css=text
                        --charset=utf8 --legal-comments=inline --log-level=warning --outfile=${BUNDLE}.new
                RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(failed)
    message(NOTICE "${said}")
    leave_without("esbuild failed")
    return()
endif()
file(RENAME ${BUNDLE}.new ${BUNDLE})
