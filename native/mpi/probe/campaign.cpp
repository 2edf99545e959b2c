// SPDX-License-Identifier: BSD-3-Clause
#include "probe/campaign.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "probe/cluster_order.hpp"
#include "probe/pingpong.hpp"
#include "probe/plogp.hpp"
#include "probe/rounds.hpp"
#include "probe/stream.hpp"
#include "probe/transport.hpp"
#include "probe/turn_groups.hpp"
#include "probe/turn_list.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr double batch_s = 0.5;
constexpr int batch_pairs = 2048;

/// How many steps the next batch should have, after one of `steps` steps took `elapsed_s`. By MPI_Wtime, so
/// that a simulation repeats itself; its seconds hold many pairs, and there the number of pairs is the limit.
std::int64_t next_batch(std::int64_t steps, double elapsed_s, int hosts) {
    const std::int64_t limit = std::max(1, batch_pairs / ((hosts + 1) / 2));
    const double growth = elapsed_s > 0 ? std::clamp(batch_s / elapsed_s, 0.25, 4.0) : 4.0;
    return std::clamp(static_cast<std::int64_t>(static_cast<double>(steps) * growth), std::int64_t{1}, limit);
}

/// What rank 0 lays down for the next batch.
struct Plan {
    int code = comm::success;  ///< another one: stop with it
    std::int64_t steps = 1;
    double at_s = 0;  ///< rank 0's time since the run started, which all count on from
    double pair_s = std::numeric_limits<double>::infinity();  ///< time for a pair
};

Plan share(MPI_Comm comm, const Plan& plan) {
    std::array<double, 4> fields{static_cast<double>(plan.code), static_cast<double>(plan.steps), plan.at_s,
                                 plan.pair_s};
    comm::check(MPI_Bcast(fields.data(), static_cast<int>(fields.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
    return {static_cast<int>(fields[0]), static_cast<std::int64_t>(fields[1]), fields[2], fields[3]};
}

bool everyone(int /*one*/, int /*other*/) { return true; }

std::vector<std::pair<int, int>> missing_from(const PairSet& done) {
    std::vector<std::pair<int, int>> pairs;
    for (int low = 0; low < done.ranks(); ++low) {
        for (int high = low + 1; high < done.ranks(); ++high) {
            if (!done.contains(low, high)) pairs.emplace_back(low, high);
        }
    }
    return pairs;
}

}  // namespace

Campaign::Campaign(MPI_Comm comm, const Options& options, const std::vector<comm::Place>& places,
                   const clock::Calibration& calibration, const clock::Occupancy& occupancy, bool crowded,
                   Sink sink)
    : comm_(comm),
      rank_(comm::rank_in(comm)),
      options_(options),
      sink_(std::move(sink)),
      start_s_(clock::now()),
      budget_(options.budget_s),
      clusters_(clusters_to_obey(comm, options, occupancy, crowded)),
      turn_group_(turn_groups(comm, options, clusters_, places, occupancy, crowded)),
      ping_pong_(comm,
                 {options.sizes_bytes, options.repetitions, options.warmup, options.patience_s,
                  options.precision, options.budget_s > 0 || options.estimate},
                 calibration.overhead_s, occupancy) {
    if (options.plogp) {
        plogp_.emplace(comm,
                       Plogp::Settings{options.max_bytes, options.repetitions, options.warmup,
                                       options.patience_s, options.synchronous},
                       calibration.overhead_s, occupancy);
    }
}

int Campaign::measure_missing(const PairSet& done) {
    const Way way{.parameters = options_.plogp};
    const std::uint64_t missing = done.possible() - done.size();
    constexpr std::uint64_t few = 4;  // fewer than one in so many
    if (!clusters_ && missing * few >= done.possible()) {
        // In rounds of all pairs, where those that are not missing pass as well.
        const auto wanted = [&done](int one, int other) { return !done.contains(one, other); };
        return run(Rounds(turn_group_, options_.seed), wanted, way);
    }
    return run(*order_of(missing_from(done), way), everyone, way);
}

int Campaign::measure(std::vector<std::pair<int, int>> pairs, Way way) {
    const std::unique_ptr<const Order> order = order_of(std::move(pairs), way);
    asked_steps_ += order->steps();
    // Nobody knows what else will be asked for; as much again as so far, until it is parameters, the last.
    return run(*order, everyone, way, way.parameters ? 0 : asked_steps_);
}

std::unique_ptr<const Order> Campaign::order_of(std::vector<std::pair<int, int>> pairs, Way way) const {
    if (way.alone) {
        return std::make_unique<const TurnList>(std::vector<int>(turn_group_.size(), 0), std::move(pairs),
                                                options_.seed);
    }
    if (clusters_) return std::make_unique<const ClusterOrder>(*clusters_, std::move(pairs), options_.seed);
    return std::make_unique<const TurnList>(turn_group_, std::move(pairs), options_.seed);
}

int Campaign::stream(const std::vector<std::pair<int, int>>& pairs, std::int64_t bytes, int messages) {
    std::vector<char> buffer;
    for (const auto& [sender, receiver] : pairs)
        if (rank_ == sender || rank_ == receiver) buffer = stream_buffer(bytes);
    std::vector<double> packed;
    // So that nobody is late, nor still busy with what came before.
    gather();
    const double at_s = clock::now() - start_s_;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto& [sender, receiver] = pairs[k];
        if (rank_ == sender)
            packed = {static_cast<double>(k), send_stream(comm_, receiver, buffer, messages)};
        else if (rank_ == receiver)
            receive_stream(comm_, sender, buffer, messages);
    }
    gather();
    packed = collect(comm_, std::move(packed));
    std::string line;
    if (rank_ == 0) {
        StreamRecord record{pairs, bytes, messages, std::vector<double>(pairs.size()), at_s};
        for (std::size_t k = 0; k + 1 < packed.size(); k += 2)
            record.elapsed_s[static_cast<std::size_t>(packed[k])] = packed[k + 1];
        line = stream_line(record);
    }
    return share(comm_, {hand_over(line, 0)}).code;
}

/// Gives rank 0's results to the sink; returns an exit code that the other ranks do not know yet.
int Campaign::hand_over(const std::string& lines, std::size_t pairs) {
    if (rank_ != 0) return comm::success;
    try {
        sink_(lines, pairs);
    } catch (const comm::Failure& failure) {
        std::fprintf(stderr, "isochrone-probe: %s\n", failure.what());
        return failure.code();
    }
    return comm::success;
}

double Campaign::trial(const std::vector<std::pair<int, int>>& pairs, bool parameters, bool least) {
    const std::unique_ptr<const Order> order = order_of(pairs, {});
    if (least) limit(0, parameters);
    const double before_s = busy_s_;
    (void)measure_batch(*order, everyone, parameters, 0, order->steps(), 0);
    gather();
    limit(std::numeric_limits<double>::infinity(), parameters);
    double sum_s = busy_s_ - before_s;
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &sum_s, 1, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce");
    return pairs.empty() ? 0 : sum_s / static_cast<double>(pairs.size());
}

std::int64_t Campaign::steps(const std::vector<std::pair<int, int>>& pairs) const {
    if (!pairs.empty()) return order_of(pairs, {})->steps();
    if (!clusters_) return Rounds(turn_group_, options_.seed).steps();
    return order_of(missing_from(PairSet(static_cast<int>(turn_group_.size()))), {})->steps();
}

/// Of what a pair takes with its parameters, round trips alone are little.
void Campaign::limit(double pair_s, bool parameters) {
    constexpr double share = 0.1;
    ping_pong_.limit(parameters ? share * pair_s : pair_s);
    if (parameters && plogp_) plogp_->limit((1 - share) * pair_s);
}

int Campaign::run(const Order& order, const Wanted& wanted, Way way, std::int64_t steps_later) {
    const int groups = *std::max_element(turn_group_.begin(), turn_group_.end()) + 1;
    Plan plan;
    for (std::int64_t first = 0;;) {
        const std::int64_t steps_left = order.steps() - first;
        plan.at_s = clock::now() - start_s_;
        plan.pair_s = budget_.pair_s(plan.at_s, steps_left + steps_later);
        plan.steps = budget_.batch(plan.steps, steps_left);
        plan = share(comm_, plan);
        if (plan.code != comm::success || first == order.steps()) return plan.code;
        limit(plan.pair_s, way.parameters);
        const std::int64_t last = std::min(order.steps(), first + plan.steps);
        std::vector<double> packed = measure_batch(order, wanted, way.parameters, first, last, plan.at_s);
        // What is sent to rank 0 must not meet the messages of those that still measure.
        gather();
        packed = collect(comm_, std::move(packed));
        if (rank_ == 0) {
            const std::vector<PairRecord> records = unpack(packed, options_.sizes_bytes.size());
            std::string lines;
            for (const PairRecord& record : records)
                lines += pair_line(record, options_.repetitions, way.again);
            plan.code = hand_over(lines, way.again ? 0 : records.size());
            const double took_s = clock::now() - start_s_ - plan.at_s;
            budget_.learn(took_s, last - first, plan.pair_s);
            plan.steps = next_batch(plan.steps, took_s, groups);
        }
        first = last;
    }
}

/// Takes this rank's turns in steps [first, last) and returns the records of those that it timed, packed.
std::vector<double> Campaign::measure_batch(const Order& order, const Wanted& wanted, bool parameters,
                                            std::int64_t first, std::int64_t last, double at_s) {
    const double start_s = clock::now();
    std::vector<double> packed;
    for (const Turn& turn : order.turns(rank_, first, last)) {
        const bool missing = wanted(turn.initiator, turn.responder);
        if (turn.responder == rank_) {
            if (missing) {
                ping_pong_.respond(turn.initiator);
                if (parameters) respond_with_parameters(turn.initiator, packed);
            }
            continue;
        }
        // Also a pair that an earlier run has measured takes its turn, so that tokens always come and go
        // alike.
        for (const Turn& earlier : order.before(turn)) {
            if (earlier.step >= first && earlier.initiator != rank_)
                ping_pong_.await_token(earlier.initiator, turn.step);
        }
        if (missing) {
            const double before_s = clock::now();
            PairTimes times = ping_pong_.initiate(turn.responder);
            std::vector<Parameters> found;
            if (parameters) found = initiate_parameters(turn.responder);
            const auto [low, high] = std::minmax(rank_, turn.responder);
            busy_s_ += clock::now() - before_s;
            pack({low, high, at_s + (clock::now() - start_s), std::move(times), std::move(found)}, packed);
        }
        for (const Turn& later : order.after(turn)) {
            if (later.step < last && later.initiator != rank_)
                ping_pong_.send_token(later.initiator, later.step);
        }
    }
    return packed;
}

std::vector<Parameters> Campaign::initiate_parameters(int responder) {
    std::vector<Parameters> found{plogp_->measure(responder)};
    if (options_.both) plogp_->serve(responder);
    return found;
}

void Campaign::respond_with_parameters(int initiator, std::vector<double>& packed) {
    plogp_->serve(initiator);
    if (!options_.both) return;
    pack(plogp_->measure(initiator), initiator, packed);
}

}  // namespace isochrone::mpi::probe
