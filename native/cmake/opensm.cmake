# SPDX-License-Identifier: BSD-3-Clause
# The event plugin of OpenSM, in C as its headers are: only where these are installed.
find_path(ISOCHRONE_OPENSM_INCLUDE infiniband/opensm/osm_event_plugin.h)
find_path(ISOCHRONE_UMAD_INCLUDE infiniband/umad.h)
find_library(ISOCHRONE_OPENSM_LIBRARY opensm)
if(ISOCHRONE_OPENSM_INCLUDE AND ISOCHRONE_UMAD_INCLUDE AND ISOCHRONE_OPENSM_LIBRARY)
    enable_language(C)
    add_library(isochrone_opensm MODULE "${PROJECT_SOURCE_DIR}/opensm/isochrone_opensm.c")
    target_compile_features(isochrone_opensm PRIVATE c_std_99)
    target_compile_definitions(isochrone_opensm PRIVATE _GNU_SOURCE)
    # System headers: theirs are not held to our warnings. They include one another in both ways.
    target_include_directories(isochrone_opensm SYSTEM PRIVATE
        "${ISOCHRONE_OPENSM_INCLUDE}" "${ISOCHRONE_OPENSM_INCLUDE}/infiniband")
    target_compile_options(isochrone_opensm PRIVATE -Wall -Wextra -Wno-unused-parameter)
    target_link_libraries(isochrone_opensm PRIVATE "${ISOCHRONE_OPENSM_LIBRARY}")
    set_target_properties(isochrone_opensm PROPERTIES C_VISIBILITY_PRESET default)
    install(TARGETS isochrone_opensm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
else()
    message(STATUS "No plugin for OpenSM: its headers (libopensm-dev, libibumad-dev) are not installed")
endif()
