# SPDX-License-Identifier: BSD-3-Clause
# The classic installation: library, headers, find_package(isochrone) and pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS isochrone_core EXPORT isochroneTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/isochrone"
    FILES_MATCHING PATTERN "*.hpp")

set(_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/isochrone")
install(EXPORT isochroneTargets NAMESPACE isochrone:: DESTINATION "${_config_folder}"
    FILE isochroneConfig.cmake)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/isochroneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/isochroneConfigVersion.cmake" DESTINATION "${_config_folder}")

configure_file(cmake/isochrone.pc.in "${PROJECT_BINARY_DIR}/isochrone.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/isochrone.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
