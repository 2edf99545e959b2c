// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/operation.hpp"

#include <algorithm>
#include <array>

#include "comm/check.hpp"

namespace isochrone::mpi::interpose {
namespace {

struct Known {
    MPI_Op op;
    const char* name;
};

/// Not MPI_REPLACE and MPI_NO_OP, which are for one-sided communication.
std::array<Known, 12> predefined() {
    return {{{MPI_SUM, "MPI_SUM"},
             {MPI_MAX, "MPI_MAX"},
             {MPI_MIN, "MPI_MIN"},
             {MPI_PROD, "MPI_PROD"},
             {MPI_LAND, "MPI_LAND"},
             {MPI_BAND, "MPI_BAND"},
             {MPI_LOR, "MPI_LOR"},
             {MPI_BOR, "MPI_BOR"},
             {MPI_LXOR, "MPI_LXOR"},
             {MPI_BXOR, "MPI_BXOR"},
             {MPI_MINLOC, "MPI_MINLOC"},
             {MPI_MAXLOC, "MPI_MAXLOC"}}};
}

}  // namespace

std::int64_t operation_number(MPI_Op op) {
    const auto all = predefined();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].op == op) return static_cast<std::int64_t>(i);
    }
    return own_operation;
}

std::string operation_name(std::int64_t number) {
    return number == own_operation ? "an operation of its own"
                                   : predefined()[static_cast<std::size_t>(number)].name;
}

bool Operations::fit(MPI_Op op, MPI_Datatype type, bool is_basic, Self& self) {
    if (op == MPI_OP_NULL) return false;
    // The handle of what a program made may be something else's tomorrow.
    const bool lasts = is_basic && operation_number(op) != own_operation;
    if (lasts) {
        const std::lock_guard lock(mutex_);
        if (known_.contains({op, type})) return true;
    }
    // The library's own call looks at the same things before it finds that there is nothing to combine.
    int nothing = 0;
    const int code =
        self.with([&](MPI_Comm comm) { return PMPI_Allreduce(MPI_IN_PLACE, &nothing, 0, type, op, comm); });
    if (code != MPI_SUCCESS) return false;
    if (lasts) {
        const std::lock_guard lock(mutex_);
        known_.insert({op, type});
    }
    return true;
}

bool Operations::is_exact(MPI_Op op, MPI_Datatype type) {
    if (operation_number(op) == own_operation) return false;
    if (op == MPI_MAXLOC || op == MPI_MINLOC) {
        static const std::array pairs{MPI_2INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_2INTEGER};
        return std::find(pairs.begin(), pairs.end(), type) != pairs.end();
    }
    // Of a number that is none, or of two zeros, the greater is whichever comes first.
    const bool is_of_numbers = op == MPI_SUM || op == MPI_PROD || op == MPI_MAX || op == MPI_MIN;
    if (!is_of_numbers) return true;
    static const std::array whole{MPI_CHAR,
                                  MPI_SIGNED_CHAR,
                                  MPI_UNSIGNED_CHAR,
                                  MPI_SHORT,
                                  MPI_INT,
                                  MPI_LONG,
                                  MPI_LONG_LONG,
                                  MPI_UNSIGNED_SHORT,
                                  MPI_UNSIGNED,
                                  MPI_UNSIGNED_LONG,
                                  MPI_UNSIGNED_LONG_LONG,
                                  MPI_INT8_T,
                                  MPI_INT16_T,
                                  MPI_INT32_T,
                                  MPI_INT64_T,
                                  MPI_UINT8_T,
                                  MPI_UINT16_T,
                                  MPI_UINT32_T,
                                  MPI_UINT64_T,
                                  MPI_AINT,
                                  MPI_COUNT,
                                  MPI_OFFSET,
                                  MPI_BYTE,
                                  MPI_INTEGER,
                                  MPI_INTEGER1,
                                  MPI_INTEGER2,
                                  MPI_INTEGER4,
                                  MPI_INTEGER8};
    return std::find(whole.begin(), whole.end(), type) != whole.end();
}

bool Operations::commutes(MPI_Op op) {
    int result = 0;
    comm::check(PMPI_Op_commutative(op, &result), "MPI_Op_commutative");
    return result != 0;
}

}  // namespace isochrone::mpi::interpose
