// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/hardware.hpp"
#include "comm/library.hpp"
#include "comm/version.hpp"
#include "comm/world.hpp"
#include "executor/tags.hpp"
#include "interpose/environment.hpp"
#include "preload/roll_call.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;
using preload::patience;
using preload::patience_with_rank_0;
using preload::take_back;
using preload::wait;

constexpr std::uint64_t magic = 0x69736f6368726f6e;  // "isochron"

/// From each rank to rank 0.
struct Here {
    std::uint64_t magic = interpose::magic;
    std::uint64_t library = 0;  ///< digest of what must be equal on all ranks
    std::int32_t threads = 0;
    std::int32_t gpu = 0;  ///< whether a GPU's runtime is loaded
    std::array<int, 3> inner{};
    std::int32_t place_length = 0;
    /// The list of CPUs is what may be long: every second one of a thousand takes 2.5 kB.
    std::array<char, 4056> place{};
};

/// From rank 0 to each.
struct Answer {
    std::uint64_t magic = interpose::magic;
    std::int64_t length = 0;  ///< of the text that follows; 0: nothing is to be done
};

std::uint64_t digest(std::string_view text) {  // FNV-1a
    std::uint64_t result = 0xcbf29ce484222325;
    for (const char c : text) result = (result ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return result;
}

Here introduce() {
    Here here;
    const comm::Library library = comm::library_identity();
    here.library = digest(library.name + '\n' + library.abi + '\n' + comm::isochrone_version);
    here.threads = comm::threads_may_call() ? 1 : 0;
    here.gpu = gpu_runtime_is_loaded() ? 1 : 0;
    const std::vector<int> cpus = comm::allowed_cpus();
    here.inner = comm::hardware_groups(cpus.size() < comm::online_cpus().size() ? cpus : std::vector<int>());
    std::string place = comm::place_text();
    place.resize(std::min(place.size(), here.place.size()));
    here.place_length = static_cast<std::int32_t>(place.size());
    std::memcpy(here.place.data(), place.data(), place.size());
    return here;
}

/// "rank 2 of 8 has", "ranks 1, 2 and 3 more of 8 have".
std::string who(const std::vector<int>& ranks, int size) {
    constexpr std::size_t most = 4;
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size() && i < most; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    }
    if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
    return text + " of " + std::to_string(size) + (ranks.size() == 1 ? " has" : " have");
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

/// Rank 0's part: hears all, and finds what is against going on.
class Chair {
  public:
    Chair(int size, int tag) : size_(size), tag_(tag), heard_(static_cast<std::size_t>(size)) {}

    /// The text that all are to have; empty: nothing is to be done.
    std::string text(const Judge& judge) {
        heard_[0] = introduce();
        const bool all = hear();
        Inputs inputs = read_inputs();
        const bool unsurveyed = inputs.plan.empty() && inputs.unsurveyed;
        if (inputs.plan.empty() && inputs.complaint.empty() && !unsurveyed) return {};
        std::string complaint = all ? compare() : absent_;
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
            for (const Here& here : heard_) {
                places.emplace_back(here.place.data(), static_cast<std::size_t>(here.place_length));
                agreement.inner.push_back(here.inner);
                agreement.threads = agreement.threads || here.threads != 0;
            }
            agreement.places = comm::places_of(places);
            complaint = judge(agreement);
            if (complaint.empty()) result = as_text(agreement, places);
        }
        if (!complaint.empty()) {
            // It may hold what the user has written.
            std::replace_if(
                complaint.begin(), complaint.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; },
                '?');
            std::fprintf(stderr, "isochrone: %s: the MPI library's own collectives run\n", complaint.c_str());
        }
        return result;
    }

    void answer(std::int64_t length) {
        Answer answer;
        answer.length = length;
        std::vector<MPI_Request> requests;
        for (int rank = 1; rank < size_; ++rank) {
            if (heard_[static_cast<std::size_t>(rank)].magic != magic) continue;
            requests.push_back(MPI_REQUEST_NULL);
            check(PMPI_Isend(&answer, sizeof answer, MPI_BYTE, rank, tag_, MPI_COMM_WORLD, &requests.back()),
                  "MPI_Isend");
        }
        check(PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    }

  private:
    bool hear() {
        std::vector<MPI_Request> requests(heard_.size() - 1, MPI_REQUEST_NULL);
        for (int rank = 1; rank < size_; ++rank) {
            Here& here = heard_[static_cast<std::size_t>(rank)];
            here.magic = 0;
            check(PMPI_Irecv(&here, sizeof here, MPI_BYTE, rank, tag_, MPI_COMM_WORLD,
                             &requests[static_cast<std::size_t>(rank - 1)]),
                  "MPI_Irecv");
        }
        if (wait(requests, patience)) return true;
        std::vector<int> missing;
        for (int rank = 1; rank < size_; ++rank) {
            if (take_back(requests[static_cast<std::size_t>(rank - 1)])) missing.push_back(rank);
        }
        if (missing.empty()) return true;
        absent_ = who(missing, size_) + " not loaded this preload, or turned it off";
        return false;
    }

    [[nodiscard]] std::string compare() const {
        std::vector<int> others;
        std::vector<int> with_gpu;
        for (int rank = 0; rank < size_; ++rank) {
            const Here& here = heard_[static_cast<std::size_t>(rank)];
            if (here.library != heard_[0].library) others.push_back(rank);
            if (here.gpu != 0) with_gpu.push_back(rank);
        }
        if (!others.empty()) {
            return who(others, size_) +
                   " another MPI library, or another version of this preload, than rank 0";
        }
        if (with_gpu.empty()) return {};
        return who(with_gpu, size_) + " loaded a GPU's runtime, so buffers may be memory of a GPU";
    }

    int size_;
    int tag_;
    std::vector<Here> heard_;
    std::string absent_;
};

/// The length of rank 0's text.
std::int64_t ask_rank_0(int rank, int tag) {
    Answer answer;
    auto here = std::make_unique<Here>(introduce());
    const auto length = offsetof(Here, place) + static_cast<std::size_t>(here->place_length);
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    check(PMPI_Irecv(&answer, sizeof answer, MPI_BYTE, 0, tag, MPI_COMM_WORLD, requests.data()), "MPI_Irecv");
    check(PMPI_Isend(here.get(), static_cast<int>(length), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &requests[1]),
          "MPI_Isend");
    if (!wait(requests, patience_with_rank_0) && take_back(requests[0])) {
        if (requests[1] != MPI_REQUEST_NULL) {
            // Nobody may ever receive it, and it is read until somebody does.
            static_cast<void>(here.release());
            check(PMPI_Request_free(&requests[1]), "MPI_Request_free");
        }
        if (rank == 1 && plan_is_asked_for()) {
            std::fprintf(stderr,
                         "isochrone: rank 0 has not loaded this preload, or turned it off: the MPI library's "
                         "own collectives run\n");
        }
        return 0;
    }
    return answer.length;
}

}  // namespace

std::optional<Agreement> agree(const Judge& judge) {
    const int rank = comm::rank_in(MPI_COMM_WORLD);
    const int size = comm::size_of(MPI_COMM_WORLD);
    const int tag = executor::largest_tag();
    std::string text;
    std::int64_t length = 0;
    if (rank == 0) {
        Chair chair(size, tag);
        text = chair.text(judge);
        length = static_cast<std::int64_t>(text.size());
        chair.answer(length);
    } else {
        length = ask_rank_0(rank, tag);
    }
    if (length == 0) return {};
    text.resize(static_cast<std::size_t>(length));
    check(PMPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return from_text(text);
}

}  // namespace isochrone::mpi::interpose
