# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian 12; scripts/dependencies.txt names the packages.
find_package(PkgConfig REQUIRED)
find_package(MPI REQUIRED COMPONENTS C CXX)
find_package(Boost 1.81 REQUIRED COMPONENTS mpi serialization)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
# The Open MPI build of HDF5, used here through its serial (sec2) driver: see docs/decisions.
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-openmpi)

# Header-only or without a package file.
find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
add_library(orrery_random123 INTERFACE)
target_include_directories(orrery_random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE})
find_path(METIS_INCLUDE metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
add_library(orrery_metis INTERFACE)
target_include_directories(orrery_metis SYSTEM INTERFACE ${METIS_INCLUDE})
target_link_libraries(orrery_metis INTERFACE ${METIS_LIBRARY})
