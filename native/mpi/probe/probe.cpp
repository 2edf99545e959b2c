// SPDX-License-Identifier: BSD-3-Clause
#include "probe/probe.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "clock/clock.hpp"
#include "clock/machines.hpp"
#include "comm/check.hpp"
#include "comm/json.hpp"
#include "comm/library.hpp"
#include "comm/place.hpp"
#include "comm/program.hpp"
#include "comm/progress.hpp"
#include "probe/campaign.hpp"
#include "probe/follow.hpp"
#include "probe/options.hpp"
#include "probe/output.hpp"
#include "probe/pair_set.hpp"
#include "probe/random.hpp"
#include "probe/record.hpp"

namespace isochrone::mpi::probe {

namespace {

/// Only rank 0 touches the file, so what it finds there decides for all.
struct Agreement {
    int code = comm::success;
    int complete = 0;  ///< nothing is left to measure
};

Agreement agree(MPI_Comm comm, Agreement found) {
    std::array<int, 2> fields{found.code, found.complete};
    comm::check(MPI_Bcast(fields.data(), 2, MPI_INT, 0, comm), "MPI_Bcast");
    return {fields[0], fields[1]};
}

comm::Failure no_such_rank(int rank) {
    return {comm::usage_error, "--pairs: there is no rank " + std::to_string(rank)};
}

int highest_rank(const std::vector<std::pair<int, int>>& pairs) {
    int highest = 0;
    for (const auto& [low, high] : pairs) highest = std::max(highest, high);
    return highest;
}

/// Pairs that are not wanted count as done. Throws comm::Failure for one that there isn't.
void leave_out_others(PairSet& done, const std::vector<std::pair<int, int>>& wanted) {
    if (wanted.empty()) return;
    PairSet missing(done.ranks());
    for (const auto& [low, high] : wanted) {
        if (high >= done.ranks()) {
            throw no_such_rank(high);
        }
        if (!done.contains(low, high)) missing.insert(low, high);
    }
    for (int low = 0; low < done.ranks(); ++low) {
        for (int high = low + 1; high < done.ranks(); ++high) {
            if (!missing.contains(low, high)) done.insert(low, high);
        }
    }
}

/// For whoever asks for pairs.
void tell(const std::string& lines) {
    std::fputs(lines.c_str(), stdout);
    std::fflush(stdout);
}

/// So many of the pairs, or of all that there are; at random, but the same on all ranks.
std::vector<std::pair<int, int>> sample(std::vector<std::pair<int, int>> pairs, int ranks, std::size_t most,
                                        std::uint64_t seed) {
    std::mt19937_64 random(seed);
    if (pairs.empty()) {
        PairSet chosen(ranks);
        const auto count = std::min<std::uint64_t>(most, chosen.possible());
        while (pairs.size() < count) {
            const auto one = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
            const auto other = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
            if (one != other && chosen.insert(one, other)) pairs.push_back(std::minmax(one, other));
        }
    }
    shuffle(pairs, random);
    pairs.resize(std::min(pairs.size(), most));
    return pairs;
}

constexpr std::size_t trial_pairs = 12;
constexpr std::size_t parameter_pairs = 3;  // these take long

/// Measures a few pairs and prints what there is to do, on rank 0.
int estimate(MPI_Comm comm, Campaign& campaign, const Options& options, bool follows) {
    const int ranks = comm::size_of(comm);
    const auto few = sample(options.pairs, ranks, trial_pairs, options.seed);
    const bool with_parameters = options.plogp && !follows;
    const double pair_s = campaign.trial(few, with_parameters, false);
    const double least_s = campaign.trial(few, with_parameters, true);
    double parameters_s = 0;
    if (options.plogp && follows)
        parameters_s =
            campaign.trial(sample(options.pairs, ranks, parameter_pairs, options.seed), true, false);
    const std::uint64_t pairs = options.pairs.empty() ? PairSet(ranks).possible() : options.pairs.size();
    if (comm::rank_in(comm) == 0) {
        tell(comm::json_line({{"estimate", true},
                              {"pairs", pairs},
                              {"steps", campaign.steps(options.pairs)},
                              {"pair_s", pair_s},
                              {"least_pair_s", least_s},
                              {"parameters_s", parameters_s}}) +
             '\n');
    }
    return comm::success;
}

/// Whether all pairs fit into the budget, each measured once, has to be known before.
void warn_of_budget(MPI_Comm comm, Campaign& campaign, const Options& options, const PairSet& done) {
    const auto few = sample(options.pairs, done.ranks(), trial_pairs, options.seed);
    const double pair_s = campaign.trial(few, options.plogp, true);
    const auto missing = static_cast<double>(done.possible() - done.size());
    const double share = options.pairs.empty() ? missing / static_cast<double>(done.possible()) : 1;
    const double least_s = pair_s * share * static_cast<double>(campaign.steps(options.pairs));
    if (least_s <= options.budget_s || comm::rank_in(comm) != 0) return;
    std::fprintf(
        stderr,
        "notice each pair once takes about %.2g s, which is more than the budget of %.3g s: they are "
        "measured once\n",
        least_s, options.budget_s);
}

int report(const comm::Failure& failure) {
    std::fprintf(stderr, "isochrone-probe: %s\n", failure.what());
    return failure.code();
}

}  // namespace

int run(MPI_Comm comm, int argc, char** argv) {
    const int rank = comm::rank_in(comm);
    const auto parsed = parse_options(argc, argv);
    if (const auto* leave = std::get_if<comm::Leave>(&parsed)) return comm::leave(comm, *leave);
    auto options = std::get<Options>(parsed);
    const std::string complaint = options.clusters ? options.clusters->complaint(comm::size_of(comm)) : "";
    if (!complaint.empty()) {
        if (rank == 0) {
            std::fprintf(stderr, "isochrone-probe: %s: give each rank of the job one cluster\n",
                         complaint.c_str());
        }
        return comm::usage_error;
    }
    const std::vector<comm::Place> places = comm::gather_places(comm);
    const bool follows = options.follow_above >= 0;
    const bool only_follows = follows && static_cast<int>(places.size()) > options.follow_above;
    // Parameters take long: without being asked for they are measured of no pair.
    if (follows && !only_follows) options.plogp = false;
    const clock::Calibration calibration = clock::calibrate();

    const clock::Machines machines(comm);
    const clock::Occupancy& occupancy = machines.occupancy();
    const bool oversubscribed = machines.any_oversubscribed();
    if (options.estimate) {
        if (!options.pairs.empty() && highest_rank(options.pairs) >= static_cast<int>(places.size())) {
            if (rank == 0) (void)report(no_such_rank(highest_rank(options.pairs)));
            return comm::usage_error;
        }
        if (rank == 0) {
            tell(comm::json_line(header_json(options, places, comm::library_identity(), calibration,
                                             comm::provenance_json(argc, argv))) +
                 '\n');
        }
        Campaign campaign(comm, options, places, calibration, occupancy, oversubscribed, {});
        return estimate(comm, campaign, options, only_follows);
    }
    std::unique_ptr<Output> output;
    PairSet done(static_cast<int>(places.size()));
    Agreement agreement;
    if (rank == 0) {
        nlohmann::ordered_json provenance = comm::provenance_json(argc, argv);
        provenance["warmup"] = options.warmup;
        provenance["oversubscribed"] = oversubscribed;
        try {
            const nlohmann::ordered_json header =
                header_json(options, places, comm::library_identity(), calibration, std::move(provenance));
            output = std::make_unique<Output>(options.output, header);
            if (follows) tell(comm::json_line(header) + '\n');
            done = output->resume().done;
            leave_out_others(done, options.pairs);
            agreement.complete = done.size() == done.possible() ? 1 : 0;
            const std::string& dropped = output->resume().dropped;
            if (!dropped.empty()) std::fprintf(stderr, "isochrone-probe: %s\n", dropped.c_str());
        } catch (const comm::Failure& failure) {
            agreement.code = report(failure);
        }
    }
    agreement = agree(comm, agreement);
    if (agreement.code != comm::success) return agreement.code;

    const double start_s = clock::now();
    const std::uint64_t done_before = done.size();
    std::uint64_t recorded = done_before;
    bool nothing_new = true;
    if (agreement.complete == 0 || follows) {
        comm::ProgressLines progress(done.possible());
        const auto sink = [&](const std::string& lines, std::size_t pairs) {
            output->append(lines);
            recorded += pairs;
            // Streams and pairs that were repeated are no new pairs, but new lines.
            nothing_new = nothing_new && lines.empty();
            if (follows) tell(lines);
            if (!only_follows) progress.show(std::min(recorded, done.possible()));
        };
        Campaign campaign(comm, options, places, calibration, occupancy, oversubscribed, sink);
        int code = comm::success;
        if (agreement.complete == 0 && !only_follows) {
            std::vector<std::uint8_t>& bits = done.bytes();
            comm::check(MPI_Bcast(bits.data(), static_cast<int>(bits.size()), MPI_UINT8_T, 0, comm),
                        "MPI_Bcast");
            if (options.budget_s > 0) warn_of_budget(comm, campaign, options, done);
            code = campaign.measure_missing(done);
        }
        if (code == comm::success && follows) code = follow(comm, campaign, options.plogp);
        if (code != comm::success) return code;
    }
    if (rank == 0 && !(nothing_new && output->resume().ended)) {
        try {
            output->append(end_line(clock::now() - start_s, recorded - done_before));
        } catch (const comm::Failure& failure) {
            agreement.code = report(failure);
        }
    }
    return agree(comm, agreement).code;
}

}  // namespace isochrone::mpi::probe
