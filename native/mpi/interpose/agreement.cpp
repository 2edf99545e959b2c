// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/hardware.hpp"
#include "comm/library.hpp"
#include "comm/version.hpp"
#include "comm/world.hpp"
#include "interpose/environment.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;
using preload::Occasion;
using preload::ranks_have;

/// What each rank says of itself, with its place behind it.
struct Here {
    std::uint64_t library = 0;  ///< digest of what must be equal on all ranks
    std::int32_t threads = 0;
    std::int32_t gpu = 0;   ///< whether a GPU's runtime is loaded
    std::int32_t able = 1;  ///< whether it can go on
    std::array<int, 3> inner{};
};

std::uint64_t digest(std::string_view text) {  // FNV-1a
    std::uint64_t result = 0xcbf29ce484222325;
    for (const char c : text) result = (result ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return result;
}

std::string introduce(bool is_able) {
    Here here;
    const comm::Library library = comm::library_identity();
    here.library = digest(library.name + '\n' + library.abi + '\n' + comm::isochrone_version);
    here.threads = comm::threads_may_call() ? 1 : 0;
    here.gpu = gpu_runtime_is_loaded() ? 1 : 0;
    here.able = is_able ? 1 : 0;
    const std::vector<int> cpus = comm::allowed_cpus();
    here.inner = comm::hardware_groups(cpus.size() < comm::online_cpus().size() ? cpus : std::vector<int>());
    std::string said(reinterpret_cast<const char*>(&here), sizeof here);
    // The list of CPUs is what may be long: every second one of a thousand takes 2.5 kB.
    said += comm::place_text(preload::longest_said - said.size());
    said.resize(std::min(said.size(), preload::longest_said));
    return said;
}

Here here_of(const std::string& said) {
    Here here;
    std::memcpy(&here, said.data(), sizeof here);
    return here;
}

/// Texts one after the other, each with its length before it.
void append(std::string& all, const std::string& text) {
    const std::uint64_t length = text.size();
    all.append(reinterpret_cast<const char*>(&length), sizeof length);
    all += text;
}

std::string take(std::string_view& all) {
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), sizeof length);
    std::string text(all.substr(sizeof length, length));
    all.remove_prefix(sizeof length + text.size());
    return text;
}

std::string as_text(const Agreement& agreement, const std::vector<std::string>& places) {
    std::string all;
    append(all, agreement.plan);
    append(all, agreement.topology);
    append(all, agreement.only);
    append(all, agreement.delays);
    std::string flags;
    for (const bool flag :
         {agreement.explain, agreement.check, agreement.threads, agreement.reproducible, agreement.summary}) {
        flags += flag ? '1' : '0';
    }
    flags += static_cast<char>('0' + static_cast<int>(agreement.trials));
    flags += agreement.unsurveyed ? '1' : '0';
    append(all, flags);
    append(all, {reinterpret_cast<const char*>(agreement.inner.data()),
                 agreement.inner.size() * sizeof agreement.inner.front()});
    for (const auto& place : places) append(all, place);
    return all;
}

Agreement from_text(std::string_view all) {
    Agreement agreement;
    agreement.plan = take(all);
    agreement.topology = take(all);
    agreement.only = take(all);
    agreement.delays = take(all);
    const std::string flags = take(all);
    agreement.explain = flags[0] == '1';
    agreement.check = flags[1] == '1';
    agreement.threads = flags[2] == '1';
    agreement.reproducible = flags[3] == '1';
    agreement.summary = flags[4] == '1';
    agreement.trials = static_cast<Trials>(flags[5] - '0');
    agreement.unsurveyed = flags[6] == '1';
    const std::string inner = take(all);
    agreement.inner.resize(inner.size() / sizeof agreement.inner.front());
    if (!inner.empty()) std::memcpy(agreement.inner.data(), inner.data(), inner.size());
    std::vector<std::string> places;
    while (!all.empty()) places.push_back(take(all));
    agreement.places = comm::places_of(places);
    return agreement;
}

/// Why the ranks cannot go on together; empty if they can. All are there.
std::string compare(const std::vector<Here>& all) {
    const int size = static_cast<int>(all.size());
    std::vector<int> others;
    std::vector<int> with_gpu;
    std::vector<int> unable;
    for (int rank = 0; rank < size; ++rank) {
        const Here& here = all[static_cast<std::size_t>(rank)];
        if (here.library != all[0].library) others.push_back(rank);
        if (here.gpu != 0) with_gpu.push_back(rank);
        if (here.able == 0) unable.push_back(rank);
    }
    if (!others.empty())
        return ranks_have(others, size) +
               " another MPI library, or another version of this preload, than rank 0";
    if (!unable.empty()) return ranks_have(unable, size) + " turned this library off";
    if (!with_gpu.empty())
        return ranks_have(with_gpu, size) + " loaded a GPU's runtime, so buffers may be memory of a GPU";
    return {};
}

/// Why not all ranks take part; empty if they do.
std::string who_is_missing(const preload::Roll& roll) {
    const int size = static_cast<int>(roll.said.size());
    if (!roll.absent.empty())
        return ranks_have(roll.absent, size) + " not loaded this preload, or turned it off";
    if (!roll.gone.empty()) return ranks_have(roll.gone, size) + " given up waiting for rank 0";
    return {};
}

/// On rank 0: the text that all are to have; empty: nothing is to be done.
std::string decide(const preload::Roll& roll, const Judge& judge) {
    if (here_of(roll.said.front()).able == 0) return {};
    Inputs inputs = read_inputs();
    const bool unsurveyed = inputs.plan.empty() && inputs.unsurveyed;
    if (inputs.plan.empty() && inputs.complaint.empty() && !unsurveyed) return {};
    std::string complaint = who_is_missing(roll);
    std::vector<Here> all;
    if (complaint.empty()) {
        std::transform(roll.said.begin(), roll.said.end(), std::back_inserter(all), here_of);
        complaint = compare(all);
    }
    if (complaint.empty()) complaint = inputs.complaint;
    std::string result;
    if (complaint.empty()) {
        std::vector<std::string> places;
        Agreement agreement{.plan = std::move(inputs.plan),
                            .topology = std::move(inputs.topology),
                            .only = std::move(inputs.only),
                            .delays = {},
                            .places = {},
                            .inner = {},
                            .unsurveyed = unsurveyed,
                            .explain = inputs.explain,
                            .check = inputs.check,
                            .reproducible = inputs.reproducible,
                            .summary = inputs.summary,
                            .trials = inputs.trials};
        for (const Here& here : all) {
            agreement.inner.push_back(here.inner);
            agreement.threads = agreement.threads || here.threads != 0;
        }
        for (const std::string& said : roll.said) places.push_back(said.substr(sizeof(Here)));
        agreement.places = comm::places_of(places);
        complaint = judge(agreement);
        if (complaint.empty()) result = as_text(agreement, places);
    }
    if (!complaint.empty()) {
        // It may hold what the user has written.
        std::replace_if(
            complaint.begin(), complaint.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
        std::fprintf(stderr, "isochrone: %s: the MPI library's own collectives run\n", complaint.c_str());
    }
    return result;
}

}  // namespace

std::optional<Agreement> agree(Occasion occasion, bool is_able, const Judge& judge) {
    const int rank = comm::rank_in(MPI_COMM_WORLD);
    std::string text;
    const auto length = preload::call_the_roll(occasion, introduce(is_able), [&](const preload::Roll& roll) {
        text = decide(roll, judge);
        return static_cast<std::int64_t>(text.size());
    });
    if (!length && rank == 1 && plan_is_asked_for()) {
        std::fprintf(stderr,
                     "isochrone: rank 0 has not loaded this preload, or turned it off: the MPI library's own "
                     "collectives run\n");
    }
    if (length.value_or(0) == 0) return {};
    text.resize(static_cast<std::size_t>(*length));
    check(PMPI_Bcast(text.data(), static_cast<int>(*length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return from_text(text);
}

}  // namespace isochrone::mpi::interpose
