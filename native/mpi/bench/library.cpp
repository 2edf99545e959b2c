// SPDX-License-Identifier: BSD-3-Clause
#include "bench/library.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "comm/check.hpp"

#ifdef ISOCHRONE_SMPI
#include <xbt/config.hpp>
#else
#include "bench/control_variable.hpp"
#endif

namespace isochrone::mpi::bench {

using comm::check;

Library::Told& Library::told(const Collective& collective) {
    const Own& row = own(collective);
    const auto [found, is_new] = told_.try_emplace(row.collective);
    if (is_new) find_names(row, found->second);
    return found->second;
}

namespace {

constexpr char segment_mark = '@';  // as in recipes

/// Sizes in bytes that cut a message into two segments at least: powers of four, as what is near in size is
/// near in time. What is smaller, or among very many, costs more for itself than it saves.
std::vector<int> segment_sizes(std::int64_t size_bytes) {
    constexpr std::int64_t least = 4096;
    constexpr std::int64_t most_segments = 128;
    constexpr std::int64_t step = 4;
    std::vector<int> sizes;
    for (std::int64_t size = least; 2 * size <= size_bytes && size <= INT_MAX; size *= step)
        if (size_bytes <= most_segments * size) sizes.push_back(static_cast<int>(size));
    return sizes;
}

std::string in_segments(const std::string& name, int segment_bytes) {
    return name + segment_mark + std::to_string(segment_bytes);
}

}  // namespace

std::vector<std::string> Library::names(const Collective& collective, std::int64_t size_bytes) {
    Told& known = told(collective);
    if (!known.are_tried) {
        known.are_tried = true;
        std::vector<int> failed;
        for (const Algorithm& one : known.algorithms) failed.push_back(works(collective, one.name) ? 0 : 1);
        check(PMPI_Allreduce(MPI_IN_PLACE, failed.data(), static_cast<int>(failed.size()), MPI_INT, MPI_MAX,
                             comm_),
              "MPI_Allreduce");
        std::vector<Algorithm> good;
        for (std::size_t i = 0; i < failed.size(); ++i)
            if (failed[i] == 0) good.push_back(known.algorithms[i]);
        known.algorithms = std::move(good);
    }
    std::vector<std::string> found;
    for (const Algorithm& one : known.algorithms) found.push_back(one.name);
    for (const int segment : segment_sizes(size_bytes)) {
        for (const Algorithm& one : known.algorithms)
            if (one.cuts_into_segments) found.push_back(in_segments(one.name, segment));
    }
    return found;
}

/// On this rank.
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
    return code == MPI_SUCCESS;
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
    const auto& bcast = core::collectives::named("bcast");
    apply(bcast, "SMP_binomial");
    check(PMPI_Bcast(&nothing, 1, MPI_BYTE, 0, comm_), "MPI_Bcast");
    check(PMPI_Barrier(comm_), "MPI_Barrier");
    apply(bcast, "");
}
Library::~Library() = default;

void Library::find_names(const Own& /*row*/, Told& /*told*/) {}

void Library::prepare(const Collective& collective, const std::string& /*name*/) {
    static_cast<void>(own(collective));
}

/// Telling takes no simulated time: each call does it.
void Library::tell(const Collective& /*collective*/, const std::string& /*name*/) {}
void Library::untell(const Collective& /*collective*/) {}

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

/// A name without the size of its segments, and that size in bytes; 0: it has none, nothing: it is no number.
std::pair<std::string, std::optional<int>> parted(const std::string& name) {
    const std::size_t at = name.find(segment_mark);
    if (at == std::string::npos) return {name, 0};
    const char* const first = name.data() + at + 1;
    const char* const last = name.data() + name.size();
    int size = 0;
    const auto read = std::from_chars(first, last, size);
    const bool is_number = read.ec == std::errc() && read.ptr == last && size > 0;
    return {name.substr(0, at), is_number ? std::optional(size) : std::nullopt};
}

/// Open MPI's component whose algorithms have names, and what puts it before the others on a communicator.
/// The info key is not in its documentation. It makes the communicators of its own components so
/// (ompi/mca/coll/base/coll_base_comm_select.c).
constexpr const char* tuned_name = "tuned";
constexpr const char* preference = "ompi_comm_coll_preference";
constexpr const char* tuned_first = "tuned,^han";

/// Whether Open MPI's `han` stands before `tuned` here, which it may among ranks on several hosts.
/// Collective.
bool is_han_first(MPI_Comm comm) {
    if (value_of("coll_han_priority") <= value_of("coll_tuned_priority")) return false;
    MPI_Comm of_host = MPI_COMM_NULL;
    check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &of_host),
          "MPI_Comm_split_type");
    int is_one_host = comm::size_of(of_host) == comm::size_of(comm) ? 1 : 0;
    PMPI_Comm_free(&of_host);
    check(PMPI_Allreduce(MPI_IN_PLACE, &is_one_host, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    return is_one_host == 0;
}

bool is_in(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void duplicate_for_tuned(MPI_Comm comm, MPI_Comm* made) {
    MPI_Info info = MPI_INFO_NULL;
    check(PMPI_Info_create(&info), "MPI_Info_create");
    int code = PMPI_Info_set(info, preference, tuned_first);
    if (code == MPI_SUCCESS) code = PMPI_Comm_dup_with_info(comm, info, made);
    PMPI_Info_free(&info);
    check(code, "MPI_Comm_dup_with_info");
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

void Library::find_names(const Own& row, Told& told) {
    const std::string name(row.collective);
    if (const ControlVariable tuned = find_variable("coll_tuned_" + name + "_algorithm");
        tuned.names != MPI_T_ENUM_NULL && !tuned.is_fixed) {
        // It listens only if it was started so (OMPI_MCA_coll_tuned_use_dynamic_rules=1).
        if (value_of("coll_tuned_use_dynamic_rules") == 0) return;
        told.variable = tuned.index;
        per_communicator_ = true;
        if (const ControlVariable segments = find_variable("coll_tuned_" + name + "_algorithm_segmentsize");
            !segments.is_fixed) {
            told.segments = segments.index;
        }
        int items = 0;
        std::array<char, 256> text{};
        int length = static_cast<int>(text.size());
        check(MPI_T_enum_get_info(tuned.names, &items, text.data(), &length), "MPI_T_enum_get_info");
        for (int i = 0; i < items; ++i) {
            int value = 0;
            length = static_cast<int>(text.size());
            check(MPI_T_enum_get_item(tuned.names, i, &value, text.data(), &length), "MPI_T_enum_get_item");
            if (value == 0) continue;  // "ignore": the library's own choice
            const bool cuts = told.segments >= 0 && is_in(row.openmpi_segmented, text.data());
            told.algorithms.push_back({text.data(), value, cuts});
        }
        if (!is_han_first_) is_han_first_ = is_han_first(comm_);
        if (*is_han_first_) told.algorithms.push_back({tuned_name, 0, false});
    } else if (const ControlVariable intra = find_variable("MPIR_CVAR_" + upper(name) + "_INTRA_ALGORITHM");
               intra.index >= 0) {
        told.variable = intra.index;
        for (const std::string_view known : row.mpich_names) {
            const int value = mpich_number(intra.description, known);
            if (value != 0) told.algorithms.push_back({std::string(known), value, false});
        }
    }
}

void Library::apply(const Collective& collective, const std::string& name) {
    const Told& known = told(collective);
    int value = 0;
    int segment_bytes = 0;
    if (!name.empty()) {
        const auto [algorithm, segment] = parted(name);
        const auto found =
            std::find_if(known.algorithms.begin(), known.algorithms.end(),
                         [&wanted = algorithm](const Algorithm& one) { return one.name == wanted; });
        if (found == known.algorithms.end() || !segment || (*segment > 0 && !found->cuts_into_segments)) {
            throw std::invalid_argument("the MPI library has no " + std::string(collective.words) + " '" +
                                        name + "'");
        }
        value = found->value;
        segment_bytes = *segment;
    }
    if (known.variable >= 0) set_variable(known.variable, value);
    if (known.segments >= 0) set_variable(known.segments, segment_bytes);
}

void Library::prepare(const Collective& collective, const std::string& name) {
    Told& known = told(collective);
    if (name.empty() || known.comms.contains(name)) return;
    apply(collective, name);
    if (per_communicator_) duplicate_for_tuned(comm_, &known.comms[name]);
    apply(collective, "");
}

void Library::tell(const Collective& collective, const std::string& name) {
    if (per_communicator_) return;
    apply(collective, name);
    is_told_ = true;
}

void Library::untell(const Collective& collective) {
    if (std::exchange(is_told_, false)) apply(collective, "");
}

int Library::call(const Collective& collective, const std::string& name, const Arguments& arguments) {
    const auto& row = own(collective);
    if (name.empty()) return row.call(arguments, comm_);
    if (per_communicator_) return row.call(arguments, told(collective).comms.at(name));
    if (is_told_) return row.call(arguments, comm_);
    apply(collective, name);
    const int code = row.call(arguments, comm_);
    apply(collective, "");
    return code;
}

#endif

}  // namespace isochrone::mpi::bench
