# SPDX-License-Identifier: BSD-3-Clause
# Lists the MPI functions that are given a communicator, from the header of the MPI library at hand: each has other
# ones, with large counts or of its own.

# Functions that mpi/reorder/entry.cpp has by hand, and those that are to see the library's MPI_COMM_WORLD: the end of
# the job, and other forms of the handle.
set(_by_hand
    Comm_get_attr Attr_get Comm_delete_attr Attr_delete Comm_set_errhandler Errhandler_set Errhandler_get
    Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent
    Abort Comm_c2f Comm_toint)

# isochrone_communicators(FILE): writes a line FUNCTION(NAME, PARAMETERS, ARGUMENTS) for each. All parameters are words;
# meant() is around the arguments that are communicators.
function(isochrone_communicators file)
    set(_source "${PROJECT_BINARY_DIR}/communicators.c")
    set(_extensions "#ifdef __has_include\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n#endif\n")
    list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE _include)
    file(WRITE "${_source}" "#include <mpi.h>\n${_extensions}")
    execute_process(COMMAND "${CMAKE_C_COMPILER}" ${_include} -E -P "${_source}"
        OUTPUT_VARIABLE _text ERROR_VARIABLE _errors RESULT_VARIABLE _code)
    if(NOT _code EQUAL 0)
        message(FATAL_ERROR "the MPI header cannot be read: ${_errors}")
    endif()
    # Neither semicolons nor brackets, which have a meaning in lists of CMake's. An array is a pointer.
    string(REPLACE ";" "\n" _text "${_text}")
    string(REPLACE "[" "*" _text "${_text}")
    string(REPLACE "]" "" _text "${_text}")
    string(REGEX MATCHALL "int[ \n]+MPIX?_[A-Za-z0-9_]+[ \n]*\\([^()]*\\)" _declarations "${_text}")
    set(_lines "// Made by cmake/communicators.cmake from the MPI library's header.\n")
    set(_count 0)
    set(_done)
    foreach(_declaration IN LISTS _declarations)
        string(REGEX REPLACE "[ \n\t]+" " " _declaration "${_declaration}")
        string(REGEX MATCH "(MPIX?)_([A-Za-z0-9_]+) ?\\((.*)\\)" _match "${_declaration}")
        set(_prefix "${CMAKE_MATCH_1}")
        set(_name "${CMAKE_MATCH_2}")
        string(REPLACE "," ";" _types "${CMAKE_MATCH_3}")
        if(NOT "${_types}" MATCHES "MPI_Comm( |;|$)" OR _name IN_LIST _by_hand OR _name MATCHES "_(function|fn|FN)$")
            continue()
        endif()
        # Intel's header declares those of files twice.
        if("${_prefix}_${_name}" IN_LIST _done)
            continue()
        endif()
        list(APPEND _done "${_prefix}_${_name}")
        set(_parameters)
        set(_arguments)
        set(_has_communicator OFF)
        set(_number 0)
        foreach(_type IN LISTS _types)
            list(APPEND _parameters "Word a${_number}")
            if(_type MATCHES "^ ?(const )?MPI_Comm( [A-Za-z0-9_]+)? ?$")
                list(APPEND _arguments "meant(a${_number})")
                set(_has_communicator ON)
            else()
                list(APPEND _arguments "a${_number}")
            endif()
            math(EXPR _number "${_number} + 1")
        endforeach()
        if(_has_communicator)
            list(JOIN _parameters ", " _parameters)
            list(JOIN _arguments ", " _arguments)
            string(APPEND _lines "FUNCTION(${_prefix}_${_name}, (${_parameters}), (${_arguments}))\n")
            math(EXPR _count "${_count} + 1")
        endif()
    endforeach()
    # MPI-1 alone has more.
    if(_count LESS 60)
        message(FATAL_ERROR "the MPI header was not understood: it seems to have ${_count} functions of communicators")
    endif()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${_lines}" @ONLY)
endfunction()
