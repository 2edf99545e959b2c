# SPDX-License-Identifier: BSD-3-Clause
# The programs and the preload for one MPI library, chosen by MPI_C_COMPILER or MPI_HOME. The code is C++ on MPI's C
# interface, so it is the C wrapper's flags that count, and no C++ bindings are linked.
if(CMAKE_CXX_COMPILER MATCHES "smpicxx$")
    # SimGrid's compiler brings headers and library itself. Ranks share one process there: nothing can be preloaded.
    set(ISOCHRONE_SMPI ON)
    add_library(isochrone_mpi_api INTERFACE)
    target_compile_definitions(isochrone_mpi_api INTERFACE ISOCHRONE_SMPI=1)
else()
    enable_language(C)
    find_package(MPI REQUIRED COMPONENTS C)
    add_library(isochrone_mpi_api INTERFACE)
    target_link_libraries(isochrone_mpi_api INTERFACE MPI::MPI_C)
    target_compile_definitions(isochrone_mpi_api INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
endif()

# Whether the library has the functions with large counts (MPI-4.0), which many lack that say they are of that standard.
if(NOT ISOCHRONE_SMPI)
    include(CheckSymbolExists)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
    check_symbol_exists(PMPI_Type_get_contents_c "mpi.h" ISOCHRONE_LARGE_COUNTS)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(ISOCHRONE_LARGE_COUNTS)
        target_compile_definitions(isochrone_mpi_api INTERFACE ISOCHRONE_LARGE_COUNTS=1)
    endif()
endif()

# MPI libraries are often outside the folders that the loader searches.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# isochrone_mpi_sources(RESULT FOLDER...): the sources of some folders of mpi/, without the main.cpp of programs.
function(isochrone_mpi_sources result)
    set(_found)
    foreach(_folder IN LISTS ARGN)
        file(GLOB_RECURSE _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/mpi/${_folder}/*.cpp")
        list(APPEND _found ${_sources})
    endforeach()
    list(FILTER _found EXCLUDE REGEX "/main\\.cpp$")
    set(${result} ${_found} PARENT_SCOPE)
endfunction()

# What the programs and the preload share.
isochrone_mpi_sources(_sources clock comm executor fabric)
add_library(isochrone_mpi_support STATIC ${_sources})
target_include_directories(isochrone_mpi_support PUBLIC "${PROJECT_SOURCE_DIR}/mpi")
# Names are looked up in a thread.
find_package(Threads REQUIRED)
target_link_libraries(isochrone_mpi_support
    PUBLIC isochrone::core isochrone_mpi_api isochrone_json Threads::Threads
    PRIVATE isochrone_warnings)

# Each program is a library, which the tests link too, and a thin main.cpp.
set(_programs)
foreach(_name IN ITEMS probe bench)
    isochrone_mpi_sources(_sources ${_name})
    if(NOT _sources)
        continue()
    endif()
    add_library(isochrone_${_name} STATIC ${_sources})
    target_link_libraries(isochrone_${_name} PUBLIC isochrone_mpi_support isochrone_cli11 PRIVATE isochrone_warnings)
    add_executable(isochrone-${_name} "${PROJECT_SOURCE_DIR}/mpi/${_name}/main.cpp")
    target_link_libraries(isochrone-${_name} PRIVATE isochrone_${_name} isochrone_warnings)
    list(APPEND _programs isochrone-${_name})
endforeach()

# A preload lives inside programs that it knows nothing of: it shows no symbol but MPI's, and brings its own C++
# runtime, since the program's may be older.
function(isochrone_preload name)
    isochrone_mpi_sources(_sources preload ${ARGN})
    add_library(${name} SHARED ${_sources})
    target_link_libraries(${name} PRIVATE isochrone_mpi_support isochrone_warnings ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc
        "LINKER:--exclude-libs,ALL" "LINKER:-z,defs")
endfunction()

if(NOT ISOCHRONE_SMPI)
    isochrone_preload(isochrone_mpi interpose)
    add_library(isochrone::mpi ALIAS isochrone_mpi)
    set_target_properties(isochrone_mpi PROPERTIES EXPORT_NAME mpi)
    target_include_directories(isochrone_mpi INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    # A program that is linked with it has it before the MPI library, whose names it takes.
    target_link_libraries(isochrone_mpi INTERFACE "$<INSTALL_INTERFACE:MPI::MPI_C>")
    isochrone_preload(isochrone_record record)
    include(cmake/communicators.cmake)
    isochrone_communicators("${PROJECT_BINARY_DIR}/generated/communicators.inc")
    isochrone_preload(isochrone_reorder reorder)
    target_include_directories(isochrone_reorder PRIVATE "${PROJECT_BINARY_DIR}/generated")
    list(APPEND _programs isochrone_mpi isochrone_record isochrone_reorder)
endif()

# It stands between programs and the C library, knows no MPI, and may need nothing that a program does not load.
if(NOT ISOCHRONE_SMPI AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    isochrone_mpi_sources(_sources idle)
    add_library(isochrone_idle SHARED ${_sources})
    target_compile_options(isochrone_idle PRIVATE -fno-exceptions -fno-rtti)
    target_link_libraries(isochrone_idle PRIVATE isochrone_warnings ${CMAKE_DL_LIBS})
    target_link_options(isochrone_idle PRIVATE -static-libstdc++ -static-libgcc "LINKER:-z,defs")
    list(APPEND _programs isochrone_idle)
endif()

install(TARGETS ${_programs}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT mpi
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi)
