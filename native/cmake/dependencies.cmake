# SPDX-License-Identifier: BSD-3-Clause
# Header-only libraries. An installed isochrone carries the ones it was built with in third_party/, so that machines
# without them can build the MPI part too.
set(_bundled "${CMAKE_CURRENT_LIST_DIR}/../third_party/include")
find_path(ISOCHRONE_NLOHMANN_INCLUDE nlohmann/json.hpp HINTS "${_bundled}" NO_CACHE)
find_path(ISOCHRONE_CLI11_INCLUDE CLI/CLI.hpp HINTS "${_bundled}" NO_CACHE)
if(NOT ISOCHRONE_NLOHMANN_INCLUDE)
    message(FATAL_ERROR "nlohmann/json.hpp was not found: install nlohmann-json3-dev (Debian) or nlohmann-json")
endif()

add_library(isochrone_json INTERFACE)
target_include_directories(isochrone_json SYSTEM INTERFACE "${ISOCHRONE_NLOHMANN_INCLUDE}")

add_library(isochrone_cli11 INTERFACE)
if(ISOCHRONE_CLI11_INCLUDE)
    target_include_directories(isochrone_cli11 SYSTEM INTERFACE "${ISOCHRONE_CLI11_INCLUDE}")
elseif(ISOCHRONE_MPI)
    message(FATAL_ERROR "CLI/CLI.hpp was not found: install libcli11-dev (Debian) or CLI11")
endif()
