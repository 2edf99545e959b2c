// SPDX-License-Identifier: BSD-3-Clause
#include "bench/library.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>

#include "comm/check.hpp"

#ifdef ISOCHRONE_SMPI
#include <xbt/config.hpp>
namespace simgrid::smpi::colls {
void set_bcast(const std::string& name);
void set_reduce(const std::string& name);
void set_allreduce(const std::string& name);
void set_barrier(const std::string& name);
void set_gather(const std::string& name);
void set_scatter(const std::string& name);
void set_allgather(const std::string& name);
void set_allgatherv(const std::string& name);
void set_alltoall(const std::string& name);
void set_alltoallv(const std::string& name);
void set_reduce_scatter(const std::string& name);
}  // namespace simgrid::smpi::colls
#define ISOCHRONE_SMPI_SETTER(name) simgrid::smpi::colls::name
#else
#define ISOCHRONE_SMPI_SETTER(name) nullptr
#endif

namespace isochrone::mpi::bench {

using comm::check;

namespace {

/// The library's own of one collective. The names of control variables follow from that of the collective.
struct Own {
    std::string_view collective;
    const char* function;
    int (*call)(const Arguments& with, MPI_Comm comm);
    /// Of MPICH, 4.0 and later: its control variables have no enumeration, but their descriptions have these.
    std::span<const std::string_view> mpich_names;
    void (*tell_simgrid)(const std::string& name);
    /// SimGrid's algorithm where a selector chooses one that refuses the number of ranks; nullptr: none does.
    const char* simgrid_for_any = nullptr;
};

constexpr std::array<std::string_view, 7> mpich_bcasts = {
    "binomial",       "nb",  "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather",
    "pipelined_tree", "tree"};
constexpr std::array<std::string_view, 4> mpich_reduces = {"binomial", "nb", "smp", "reduce_scatter_gather"};
constexpr std::array<std::string_view, 9> mpich_allreduces = {"nb",
                                                              "smp",
                                                              "recursive_doubling",
                                                              "recursive_multiplying",
                                                              "reduce_scatter_allgather",
                                                              "tree",
                                                              "recexch",
                                                              "ring",
                                                              "k_reduce_scatter_allgather"};
constexpr std::array<std::string_view, 5> mpich_barriers = {"nb", "smp", "dissemination", "k_dissemination",
                                                            "recexch"};

constexpr std::array<std::string_view, 3> mpich_allgathers = {"recursive_doubling", "brucks", "ring"};
constexpr std::array<std::string_view, 4> mpich_alltoalls = {"brucks", "scattered", "pairwise",
                                                             "pairwise_sendrecv_replace"};
constexpr std::array<std::string_view, 2> mpich_alltoallvs = {"scattered", "pairwise_sendrecv_replace"};
// Not "noncommutative", which aborts where ranks are no power of two.
constexpr std::array<std::string_view, 3> mpich_reduce_scatters = {"recursive_doubling", "pairwise",
                                                                   "recursive_halving"};
constexpr std::array<std::string_view, 2> mpich_scans = {"smp", "recursive_doubling"};

constexpr auto table = std::to_array<Own>({
    {"bcast", "MPI_Bcast",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Bcast(with.output, with.count, with.type, with.root, comm);
     },
     mpich_bcasts, ISOCHRONE_SMPI_SETTER(set_bcast)},
    {"reduce", "MPI_Reduce",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce(with.input, with.output, with.count, with.type, with.op, with.root, comm);
     },
     mpich_reduces, ISOCHRONE_SMPI_SETTER(set_reduce)},
    {"allreduce", "MPI_Allreduce",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allreduce(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_allreduces, ISOCHRONE_SMPI_SETTER(set_allreduce)},
    {"barrier", "MPI_Barrier", [](const Arguments& /*with*/, MPI_Comm comm) { return PMPI_Barrier(comm); },
     mpich_barriers, ISOCHRONE_SMPI_SETTER(set_barrier)},
    {"gather",
     "MPI_Gather",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Gather(with.input, with.count, with.type, with.output, with.count, with.type, with.root,
                            comm);
     },
     {},
     ISOCHRONE_SMPI_SETTER(set_gather)},
    {"gatherv",
     "MPI_Gatherv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Gatherv(with.input, with.input_blocks->counts[0], with.type, with.output,
                             with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                             with.type, with.root, comm);
     },
     {},
     nullptr},
    {"scatter",
     "MPI_Scatter",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scatter(with.input, with.count, with.type, with.output, with.count, with.type, with.root,
                             comm);
     },
     {},
     ISOCHRONE_SMPI_SETTER(set_scatter)},
    {"scatterv",
     "MPI_Scatterv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scatterv(with.input, with.input_blocks->counts.data(),
                              with.input_blocks->displacements.data(), with.type, with.output,
                              with.output_blocks->counts[0], with.type, with.root, comm);
     },
     {},
     nullptr},
    {"allgather", "MPI_Allgather",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allgather(with.input, with.count, with.type, with.output, with.count, with.type, comm);
     },
     mpich_allgathers, ISOCHRONE_SMPI_SETTER(set_allgather)},
    {"allgatherv", "MPI_Allgatherv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Allgatherv(with.input, with.input_blocks->counts[0], with.type, with.output,
                                with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                                with.type, comm);
     },
     mpich_allgathers, ISOCHRONE_SMPI_SETTER(set_allgatherv)},
    {"alltoall", "MPI_Alltoall",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Alltoall(with.input, with.count, with.type, with.output, with.count, with.type, comm);
     },
     mpich_alltoalls, ISOCHRONE_SMPI_SETTER(set_alltoall),
     // Libraries exchange with (rank + i) and (rank - i) where ranks are no power of two.
     "ring"},
    {"alltoallv", "MPI_Alltoallv",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Alltoallv(with.input, with.input_blocks->counts.data(),
                               with.input_blocks->displacements.data(), with.type, with.output,
                               with.output_blocks->counts.data(), with.output_blocks->displacements.data(),
                               with.type, comm);
     },
     mpich_alltoallvs, ISOCHRONE_SMPI_SETTER(set_alltoallv), "ring"},
    {"alltoallw", "MPI_Alltoallw",
     [](const Arguments& with, MPI_Comm comm) {
         // All that is timed is of one type, but this one wants a list of types, and bytes.
         int element_bytes = 0;
         check(PMPI_Type_size(with.type, &element_bytes), "MPI_Type_size");
         const auto places = [&](const Blocks& blocks) {
             auto result = blocks.displacements;
             for (int& place : result) place *= element_bytes;
             return result;
         };
         const std::vector types(with.input_blocks->counts.size(), with.type);
         return PMPI_Alltoallw(with.input, with.input_blocks->counts.data(),
                               places(*with.input_blocks).data(), types.data(), with.output,
                               with.output_blocks->counts.data(), places(*with.output_blocks).data(),
                               types.data(), comm);
     },
     mpich_alltoallvs, nullptr},
    {"reduce_scatter_block", "MPI_Reduce_scatter_block",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce_scatter_block(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_reduce_scatters, nullptr},
    {"reduce_scatter", "MPI_Reduce_scatter",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Reduce_scatter(with.input, with.output, with.input_blocks->counts.data(), with.type,
                                    with.op, comm);
     },
     mpich_reduce_scatters, ISOCHRONE_SMPI_SETTER(set_reduce_scatter)},
    {"scan", "MPI_Scan",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Scan(with.input, with.output, with.count, with.type, with.op, comm);
     },
     mpich_scans, nullptr},
    {"exscan",
     "MPI_Exscan",
     [](const Arguments& with, MPI_Comm comm) {
         return PMPI_Exscan(with.input, with.output, with.count, with.type, with.op, comm);
     },
     {},
     nullptr},
});

const Own& own(const core::collectives::Collective& collective) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const Own& one) { return one.collective == collective.name; });
    if (row == table.end()) {
        throw std::invalid_argument("the library's own " + std::string(collective.words) +
                                    " cannot be timed");
    }
    return *row;
}

}  // namespace

Library::Told& Library::told(const Collective& collective) {
    const auto [found, is_new] = told_.try_emplace(own(collective).collective);
    if (is_new) find_names(found->first, found->second);
    return found->second;
}

const std::vector<std::string>& Library::names(const Collective& collective) {
    Told& known = told(collective);
    if (!known.are_tried) {
        known.are_tried = true;
        for (const std::string& name : std::vector<std::string>(known.names)) {
            if (works(collective, name)) continue;
            const auto at = std::find(known.names.begin(), known.names.end(), name);
            known.values.erase(known.values.begin() + (at - known.names.begin()));
            known.names.erase(at);
        }
    }
    return known.names;
}

bool Library::works(const Collective& collective, const std::string& name) {
    // Of collectives of blocks one for each rank.
    const auto elements = static_cast<std::size_t>(comm::size_of(comm_));
    const std::vector<std::uint64_t> input(elements);
    std::vector<std::uint64_t> output(elements);
    Blocks blocks{.counts = std::vector(elements, 1), .displacements = std::vector<int>(elements)};
    std::iota(blocks.displacements.begin(), blocks.displacements.end(), 0);
    prepare(collective, name);
    const int code = call(collective, name,
                          {.input = input.data(),
                           .output = output.data(),
                           .count = 1,
                           .type = MPI_UINT64_T,
                           .op = MPI_SUM,
                           .input_blocks = &blocks,
                           .output_blocks = &blocks});
    int failed = code != MPI_SUCCESS ? 1 : 0;
    check(PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
    return failed == 0;
}

void Library::run(const Collective& collective, const std::string& name, const Arguments& arguments) {
    check(call(collective, name, arguments), own(collective).function);
}

#ifdef ISOCHRONE_SMPI

Library::Library(MPI_Comm comm) : comm_(comm) {
    // The first broadcast by nodes makes SimGrid's communicators for them, which takes 20 times as long as a
    // small broadcast, and is no part of any.
    char nothing = 0;
    // All simulated ranks share the choice: none may be in a broadcast that another has begun otherwise.
    check(PMPI_Barrier(comm_), "MPI_Barrier");
    simgrid::smpi::colls::set_bcast("SMP_binomial");
    check(PMPI_Bcast(&nothing, 1, MPI_BYTE, 0, comm_), "MPI_Bcast");
}
Library::~Library() = default;

void Library::find_names(std::string_view /*collective*/, Told& /*told*/) {}

void Library::prepare(const Collective& collective, const std::string& /*name*/) {
    static_cast<void>(own(collective));
}

void Library::apply(const Collective& collective, const std::string& name) {
    // All simulated ranks share the choice; those that set it later in the same call set it to the same.
    const auto& row = own(collective);
    if (row.tell_simgrid == nullptr) return;  // it has one only
    row.tell_simgrid(name.empty() ? simgrid::config::get_value<std::string>("smpi/coll-selector") : name);
}

int Library::call(const Collective& collective, const std::string& name, const Arguments& arguments) {
    apply(collective, name);
    const auto& row = own(collective);
    try {
        return row.call(arguments, comm_);
    } catch (const std::invalid_argument&) {
        // On all ranks, and before any message.
        if (row.simgrid_for_any == nullptr || !name.empty()) throw;
        apply(collective, row.simgrid_for_any);
        return row.call(arguments, comm_);
    }
}

#else

namespace {

struct Variable {
    int index = -1;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    std::string description;
    bool is_fixed = false;  // it can be read only
};

Variable find_variable(const std::string& wanted) {
    int index = -1;
    if (MPI_T_cvar_get_index(wanted.c_str(), &index) != MPI_SUCCESS) return {};
    std::array<char, 256> name{};
    std::array<char, 4096> description{};
    int name_length = static_cast<int>(name.size());
    int description_length = static_cast<int>(description.size());
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &names, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS) {
        return {};
    }
    const bool is_fixed = scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY;
    return {index, names, description.data(), is_fixed};
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

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return result;
}

/// MPICH's number for an algorithm; 0: it has none of that name. Descriptions list "name   - Force ..." by
/// ascending number, in some versions without anything between two of them. Versions differ in what they
/// have.
int mpich_number(const std::string& description, std::string_view name) {
    constexpr std::string_view mark = "- Force";
    int number = 0;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = description.find(mark, from)) != std::string::npos;
         from = at + mark.size()) {
        ++number;
        std::string_view before = std::string_view(description).substr(from, at - from);
        const std::size_t end = before.find_last_not_of(' ');
        if (end == std::string_view::npos) continue;
        before = before.substr(0, end + 1);
        if (!before.ends_with(name)) continue;
        before.remove_suffix(name.size());
        if (before.empty() || before.back() != '_') return number;
    }
    return 0;
}

}  // namespace

Library::Library(MPI_Comm comm) : comm_(comm) {
    int provided = 0;
    check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
}

Library::~Library() {
    for (auto& [collective, known] : told_) {
        for (auto& [name, made] : known.comms) PMPI_Comm_free(&made);
    }
    MPI_T_finalize();
}

void Library::find_names(std::string_view collective, Told& told) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const Own& one) { return one.collective == collective; });
    const std::string name(collective);
    if (const Variable tuned = find_variable("coll_tuned_" + name + "_algorithm");
        tuned.names != MPI_T_ENUM_NULL && !tuned.is_fixed) {
        // It listens only if it was started so (OMPI_MCA_coll_tuned_use_dynamic_rules=1).
        if (!is_on(find_variable("coll_tuned_use_dynamic_rules").index)) return;
        told.variable = tuned.index;
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
            told.names.emplace_back(text.data());
            told.values.push_back(value);
        }
    } else if (const Variable intra = find_variable("MPIR_CVAR_" + upper(name) + "_INTRA_ALGORITHM");
               intra.index >= 0) {
        told.variable = intra.index;
        for (const std::string_view known : row->mpich_names) {
            const int value = mpich_number(intra.description, known);
            if (value == 0) continue;
            told.names.emplace_back(known);
            told.values.push_back(value);
        }
    }
}

void Library::apply(const Collective& collective, const std::string& name) {
    const Told& known = told(collective);
    int value = 0;
    if (!name.empty()) {
        const auto found = std::find(known.names.begin(), known.names.end(), name);
        if (found == known.names.end()) {
            throw std::invalid_argument("the MPI library has no " + std::string(collective.words) + " '" +
                                        name + "'");
        }
        value = known.values[static_cast<std::size_t>(found - known.names.begin())];
    }
    if (known.variable >= 0) set_variable(known.variable, value);
}

void Library::prepare(const Collective& collective, const std::string& name) {
    Told& known = told(collective);
    if (name.empty() || known.comms.contains(name)) return;
    apply(collective, name);
    if (per_communicator_) check(PMPI_Comm_dup(comm_, &known.comms[name]), "MPI_Comm_dup");
    apply(collective, "");
}

int Library::call(const Collective& collective, const std::string& name, const Arguments& arguments) {
    const auto& row = own(collective);
    if (name.empty()) return row.call(arguments, comm_);
    if (per_communicator_) return row.call(arguments, told(collective).comms.at(name));
    apply(collective, name);
    const int code = row.call(arguments, comm_);
    apply(collective, "");
    return code;
}

#endif

}  // namespace isochrone::mpi::bench
