# SPDX-License-Identifier: Apache-2.0
# orrery_folder(NAME LIBRARIES ... [PRECOMPILE HEADER ...]): every .cpp below NAME/ becomes the object library orrery_NAME. Object libraries,
# because a static archive drops the files that only register themselves.
function(orrery_folder name)
    cmake_parse_arguments(arg "" "" "LIBRARIES;PRECOMPILE" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
    add_library(orrery_${name} OBJECT ${sources})
    target_link_libraries(orrery_${name} PUBLIC orrery_flags ${arg_LIBRARIES})
    orrery_precompile(orrery_${name} ${arg_PRECOMPILE})
endfunction()

# An executable from the objects of all listed folders (linking an object library directly brings its objects).
function(orrery_executable name)
    cmake_parse_arguments(arg "" "" "SOURCES;FOLDERS;LIBRARIES" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    foreach(folder IN LISTS arg_FOLDERS)
        target_link_libraries(${name} PRIVATE orrery_${folder})
    endforeach()
    target_link_libraries(${name} PRIVATE orrery_flags ${arg_LIBRARIES})
endfunction()
