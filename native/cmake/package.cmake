# SPDX-License-Identifier: BSD-3-Clause
# The classic installation: libraries, headers, find_package(isochrone) and pkg-config, for other programs to build
# on. The component `devel` has them alone.
include(CMakePackageConfigHelpers)
if(TARGET isochrone_mpi)
    set(ISOCHRONE_MPI_INSTALLED ON)
else()
    set(ISOCHRONE_MPI_INSTALLED OFF)
endif()

install(TARGETS isochrone_core EXPORT isochroneTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/isochrone"
    COMPONENT devel FILES_MATCHING PATTERN "*.hpp")

set(_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/isochrone")
install(EXPORT isochroneTargets NAMESPACE isochrone:: DESTINATION "${_config_folder}"
    FILE isochroneTargets.cmake COMPONENT devel)
configure_package_config_file(cmake/isochroneConfig.cmake.in "${PROJECT_BINARY_DIR}/isochroneConfig.cmake"
    INSTALL_DESTINATION "${_config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/isochroneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/isochroneConfig.cmake" "${PROJECT_BINARY_DIR}/isochroneConfigVersion.cmake"
    DESTINATION "${_config_folder}" COMPONENT devel)

configure_file(cmake/isochrone.pc.in "${PROJECT_BINARY_DIR}/isochrone.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/isochrone.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)

if(ISOCHRONE_MPI_INSTALLED)
    # The library itself is of the component `mpi` too: a preload needs nothing else.
    install(TARGETS isochrone_mpi EXPORT isochroneTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
    install(FILES mpi/interpose/isochrone.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel)
    configure_file(cmake/isochrone_mpi.pc.in "${PROJECT_BINARY_DIR}/isochrone_mpi.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/isochrone_mpi.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)
endif()
