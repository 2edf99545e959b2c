# SPDX-License-Identifier: BSD-3-Clause
# isochrone-lab, the emulated network, without MPI. It needs Linux's namespaces and TAP devices. All but main.cpp is a
# library, which the tests link too.
file(GLOB _lab_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/*.cpp")
list(FILTER _lab_sources EXCLUDE REGEX "/main\\.cpp$")
add_library(isochrone_lab STATIC ${_lab_sources})
target_include_directories(isochrone_lab PUBLIC "${PROJECT_SOURCE_DIR}/lab")
target_link_libraries(isochrone_lab PUBLIC isochrone::core isochrone_json PRIVATE isochrone_warnings)
add_executable(isochrone-lab "${PROJECT_SOURCE_DIR}/lab/main.cpp")
target_link_libraries(isochrone-lab PRIVATE isochrone_lab isochrone_warnings)
if(SKBUILD)
    install(TARGETS isochrone-lab RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python)
else()
    install(TARGETS isochrone-lab RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
