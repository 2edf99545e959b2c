// SPDX-License-Identifier: BSD-3-Clause
#include "bench/library_bcast.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "comm/check.hpp"

#ifdef ISOCHRONE_SMPI
#include <xbt/config.hpp>
namespace simgrid::smpi::colls {
void set_bcast(const std::string& name);
}
#endif

namespace isochrone::mpi::bench {

using comm::check;

#ifdef ISOCHRONE_SMPI

LibraryBcast::LibraryBcast(MPI_Comm comm) : comm_(comm) {
    // The first broadcast by nodes makes SimGrid's communicators for them, which takes 20 times as long as a
    // small broadcast, and is no part of any.
    char nothing = 0;
    bcast("SMP_binomial", &nothing, 1, 0);
}
LibraryBcast::~LibraryBcast() = default;

void LibraryBcast::prepare(const std::string& /*name*/) {}

void LibraryBcast::apply(const std::string& name) {
    // All simulated ranks share the choice; those that set it later in the same broadcast set it to the same.
    simgrid::smpi::colls::set_bcast(
        name.empty() ? simgrid::config::get_value<std::string>("smpi/coll-selector") : name);
}

void LibraryBcast::bcast(const std::string& name, void* data, int count, int root) {
    apply(name);
    check(PMPI_Bcast(data, count, MPI_BYTE, root, comm_), "MPI_Bcast");
}

#else

namespace {

/// The algorithms that MPICH has had since 4.0, in the order of their values, "auto" (0) left out. Its
/// control variable has no enumeration, but its description names them in this order.
constexpr std::array<const char*, 5> mpich_names = {
    "binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"};

struct Variable {
    int index = -1;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    std::string description;
};

Variable find_variable(const std::string& wanted) {
    int count = 0;
    if (MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return {};
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> name{};
        std::array<char, 4096> description{};
        int name_length = static_cast<int>(name.size());
        int description_length = static_cast<int>(description.size());
        int verbosity = 0;
        int binding = 0;
        int scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum names = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, name.data(), &name_length, &verbosity, &type, &names, description.data(),
                                &description_length, &binding, &scope) != MPI_SUCCESS) {
            continue;
        }
        if (wanted == name.data()) return {i, names, description.data()};
    }
    return {};
}

void set_variable(int index, int value) {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    check(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
    const int code = MPI_T_cvar_write(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    check(code, "MPI_T_cvar_write");
}

bool is_on(int index) {
    if (index < 0) return false;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    check(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
    std::array<int, 8> value{};  // room for any basic type
    const int code = MPI_T_cvar_read(handle, value.data());
    MPI_T_cvar_handle_free(&handle);
    check(code, "MPI_T_cvar_read");
    return value[0] != 0;
}

}  // namespace

LibraryBcast::LibraryBcast(MPI_Comm comm) : comm_(comm) {
    int provided = 0;
    check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
    if (const Variable tuned = find_variable("coll_tuned_bcast_algorithm"); tuned.names != MPI_T_ENUM_NULL) {
        // It listens only if it was started so (OMPI_MCA_coll_tuned_use_dynamic_rules=1).
        if (!is_on(find_variable("coll_tuned_use_dynamic_rules").index)) return;
        variable_ = tuned.index;
        per_communicator_ = true;
        int items = 0;
        std::array<char, 256> text{};
        int length = static_cast<int>(text.size());
        check(MPI_T_enum_get_info(tuned.names, &items, text.data(), &length), "MPI_T_enum_get_info");
        for (int i = 0; i < items; ++i) {
            int value = 0;
            length = static_cast<int>(text.size());
            check(MPI_T_enum_get_item(tuned.names, i, &value, text.data(), &length), "MPI_T_enum_get_item");
            if (value == 0) continue;  // "ignore": the library's own choice
            names_.emplace_back(text.data());
            values_.push_back(value);
        }
    } else if (const Variable intra = find_variable("MPIR_CVAR_BCAST_INTRA_ALGORITHM"); intra.index >= 0) {
        variable_ = intra.index;
        std::size_t position = 0;
        for (std::size_t i = 0; i < mpich_names.size(); ++i) {
            position = intra.description.find(mpich_names[i], position);
            if (position == std::string::npos) break;
            names_.emplace_back(mpich_names[i]);
            values_.push_back(static_cast<int>(i) + 1);
        }
    }
}

LibraryBcast::~LibraryBcast() {
    for (auto& [name, told] : told_) PMPI_Comm_free(&told);
    MPI_T_finalize();
}

void LibraryBcast::apply(const std::string& name) {
    int value = 0;
    if (!name.empty()) {
        const auto found = std::find(names_.begin(), names_.end(), name);
        if (found == names_.end())
            throw std::invalid_argument("the MPI library has no broadcast '" + name + "'");
        value = values_[static_cast<std::size_t>(found - names_.begin())];
    }
    if (variable_ < 0) return;
    set_variable(variable_, value);
}

void LibraryBcast::prepare(const std::string& name) {
    if (name.empty() || told_.contains(name)) return;
    apply(name);
    if (per_communicator_) check(PMPI_Comm_dup(comm_, &told_[name]), "MPI_Comm_dup");
    apply("");
}

void LibraryBcast::bcast(const std::string& name, void* data, int count, int root) {
    if (name.empty() || per_communicator_) {
        const MPI_Comm comm = name.empty() ? comm_ : told_.at(name);
        check(PMPI_Bcast(data, count, MPI_BYTE, root, comm), "MPI_Bcast");
        return;
    }
    apply(name);
    const int code = PMPI_Bcast(data, count, MPI_BYTE, root, comm_);
    apply("");
    check(code, "MPI_Bcast");
}

#endif

}  // namespace isochrone::mpi::bench
