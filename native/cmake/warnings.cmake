# SPDX-License-Identifier: BSD-3-Clause
# Warnings for our own code. Sign conversions are left out: MPI counts are int, sizes of containers are not, and the
# checks are where the two meet, not at every index.
add_library(isochrone_warnings INTERFACE)
target_compile_options(isochrone_warnings INTERFACE
    # GCC 12 sees overlapping copies in string concatenations (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
