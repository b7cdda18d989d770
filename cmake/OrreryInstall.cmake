# SPDX-License-Identifier: Apache-2.0
# `cmake --install` and the Debian package.
include(GNUInstallDirs)
install(TARGETS orrery RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS scripts/mpirun.sh DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME orrery-mpirun)
install(PROGRAMS scripts/slurm/orrery.sbatch scripts/slurm/orrery-study.sbatch DESTINATION ${CMAKE_INSTALL_DATADIR}/orrery/slurm)
install(DIRECTORY scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/orrery/scenarios)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# What is needed besides the linked libraries (those come from dpkg-shlibdeps): the `run` lines of the one list.
file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/dependencies.txt lines REGEX "^[a-z0-9.+-]+ +run ")
list(TRANSFORM lines REPLACE " .*" "")
list(JOIN lines ", " run_packages)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/dependencies.txt)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VENDOR "The Orrery authors")
set(CPACK_PACKAGE_CONTACT "The Orrery authors <orrery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Predicts when each rank of an AI super-pod computes, communicates and waits, \
and which links limit it. Runs on any number of MPI processes with identical results.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${run_packages}")
include(CPack)
