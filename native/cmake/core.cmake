# SPDX-License-Identifier: BSD-3-Clause
# isochrone::core, the library without MPI.
file(GLOB_RECURSE _core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/*.cpp")
if(CMAKE_CXX_COMPILER MATCHES "smpicxx$")
    # Only the preload that reorders ranks maps them, and SimGrid has no preloads.
    list(FILTER _core_sources EXCLUDE REGEX "/core/mapping/")
endif()
if(ISOCHRONE_MPI)
    # Routes are Python's; programs ask a server for them.
    list(FILTER _core_sources EXCLUDE REGEX "/core/fabric/")
endif()
add_library(isochrone_core STATIC ${_core_sources})
add_library(isochrone::core ALIAS isochrone_core)
set_target_properties(isochrone_core PROPERTIES EXPORT_NAME core)
target_compile_features(isochrone_core PUBLIC cxx_std_20)
target_include_directories(isochrone_core PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/isochrone>")
# Within $<BUILD_INTERFACE>, because users of the installed library need neither.
target_link_libraries(isochrone_core PRIVATE
    "$<BUILD_INTERFACE:isochrone_json>" "$<BUILD_INTERFACE:isochrone_warnings>")
