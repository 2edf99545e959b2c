# SPDX-License-Identifier: BSD-3-Clause
# What goes into the Python package beside _core: the sources of the native part and the headers they need, so that
# an installed isochrone builds the MPI part anywhere. An editable installation uses the source tree itself.
if(SKBUILD_STATE STREQUAL "editable")
    return()
endif()
install(DIRECTORY core mpi sim cmake DESTINATION isochrone/native COMPONENT python
    FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cmake" PATTERN "*.in" PATTERN "*.inc")
install(FILES CMakeLists.txt DESTINATION isochrone/native COMPONENT python)

set(_third_party isochrone/native/third_party)
install(DIRECTORY "${ISOCHRONE_NLOHMANN_INCLUDE}/nlohmann" DESTINATION ${_third_party}/include COMPONENT python)
if(ISOCHRONE_CLI11_INCLUDE)
    install(DIRECTORY "${ISOCHRONE_CLI11_INCLUDE}/CLI" DESTINATION ${_third_party}/include COMPONENT python)
endif()
# Where Debian keeps their licences; elsewhere the notices inside the headers stand.
foreach(_package IN ITEMS nlohmann-json3-dev libcli11-dev)
    if(EXISTS "/usr/share/doc/${_package}/copyright")
        install(FILES "/usr/share/doc/${_package}/copyright" DESTINATION ${_third_party}
            RENAME ${_package}.copyright COMPONENT python)
    endif()
endforeach()
