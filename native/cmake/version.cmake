# SPDX-License-Identifier: BSD-3-Clause
# ISOCHRONE_VERSION, read from the Python package: beside native/ in src/ in a source tree, around it when installed.
foreach(_init IN ITEMS "${CMAKE_CURRENT_LIST_DIR}/../../src/isochrone/__init__.py"
                       "${CMAKE_CURRENT_LIST_DIR}/../../__init__.py")
    if(EXISTS "${_init}")
        file(STRINGS "${_init}" _line REGEX "^__version__")
        string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" ISOCHRONE_VERSION "${_line}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_init}")
        break()
    endif()
endforeach()
if(NOT ISOCHRONE_VERSION)
    message(FATAL_ERROR "the version of isochrone was not found: native/ is neither in its source tree nor installed")
endif()
