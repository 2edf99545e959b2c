// SPDX-License-Identifier: BSD-3-Clause
#include "probe/campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "probe/cluster_order.hpp"
#include "probe/pingpong.hpp"
#include "probe/plogp.hpp"
#include "probe/rounds.hpp"
#include "probe/turn_list.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr double batch_s = 0.5;
constexpr int batch_pairs = 2048;

// A record on its way to rank 0: low, high, at_s, the four lists, and how many sizes its parameters have;
// then for each of those a size, the four numbers of its round trips, and three more. Parameters that the
// responder measured come by themselves, with a not-a-number for at_s. Ranks and sizes are exact in a double.
constexpr std::size_t leading_fields = 3;
constexpr std::size_t parameter_fields = 8;

void pack(const Parameters& found, std::vector<double>& packed) {
    packed.insert(packed.end(),
                  {static_cast<double>(found.from), static_cast<double>(found.sizes_bytes.size())});
    for (std::size_t k = 0; k < found.sizes_bytes.size(); ++k) {
        packed.push_back(static_cast<double>(found.sizes_bytes[k]));
        packed.insert(packed.end(), found.rtt_s[k].begin(), found.rtt_s[k].end());
        packed.insert(packed.end(), {found.send_overhead_s[k], found.receive_overhead_s[k], found.gap_s[k]});
    }
}

void pack(const PairRecord& record, std::vector<double>& packed) {
    packed.insert(packed.end(),
                  {static_cast<double>(record.low), static_cast<double>(record.high), record.at_s});
    for (const auto* values :
         {&record.times.rtt_min_s, &record.times.rtt_median_s, &record.times.send_overhead_s}) {
        packed.insert(packed.end(), values->begin(), values->end());
    }
    packed.insert(packed.end(), record.times.repetitions.begin(), record.times.repetitions.end());
    packed.push_back(static_cast<double>(record.parameters.size()));
    for (const Parameters& found : record.parameters) pack(found, packed);
}

Parameters unpack_parameters(const double*& next) {
    Parameters found;
    found.from = static_cast<int>(*next++);
    const auto sizes = static_cast<std::size_t>(*next++);
    for (std::size_t k = 0; k < sizes; ++k, next += parameter_fields) {
        found.sizes_bytes.push_back(static_cast<std::int64_t>(next[0]));
        found.rtt_s.push_back({next[1], next[2], next[3], next[4]});
        found.send_overhead_s.push_back(next[5]);
        found.receive_overhead_s.push_back(next[6]);
        found.gap_s.push_back(next[7]);
    }
    return found;
}

/// `packed` holds what pack() has written, times of so many sizes. A record without times is the other
/// direction of one that has them.
std::vector<PairRecord> unpack(const std::vector<double>& packed, std::size_t sizes) {
    std::map<std::pair<int, int>, PairRecord> by_pair;
    const double* const end = packed.data() + packed.size();
    for (const double* next = packed.data(); next < end;) {
        const int low = static_cast<int>(next[0]);
        const int high = static_cast<int>(next[1]);
        PairRecord& record = by_pair[{low, high}];
        record.low = low;
        record.high = high;
        const double at_s = next[2];
        next += leading_fields;
        if (!std::isnan(at_s)) {
            record.at_s = at_s;
            record.times.rtt_min_s.assign(next, next + sizes);
            record.times.rtt_median_s.assign(next + sizes, next + 2 * sizes);
            record.times.send_overhead_s.assign(next + 2 * sizes, next + 3 * sizes);
            record.times.repetitions.assign(next + 3 * sizes, next + 4 * sizes);
            next += 4 * sizes;
        }
        for (auto more = static_cast<int>(*next++); more > 0; --more)
            record.parameters.push_back(unpack_parameters(next));
    }
    std::vector<PairRecord> records;
    for (auto& [pair, record] : by_pair) records.push_back(std::move(record));
    // They came rank by rank; the file is a record in time.
    std::sort(records.begin(), records.end(),
              [](const PairRecord& a, const PairRecord& b) { return a.at_s < b.at_s; });
    return records;
}

/// All ranks' values on rank 0, empty elsewhere. Plain messages: MPI_Gatherv would need the counts first, and
/// where it is made of as many requests as there are ranks (SimGrid's own), its time grows with their square.
std::vector<double> collect(MPI_Comm comm, std::vector<double> mine) {
    constexpr int tag = 0;
    const int ranks = comm::size_of(comm);
    if (comm::rank_in(comm) != 0) {
        const auto count = static_cast<std::int64_t>(mine.size());
        comm::check(MPI_Send(&count, 1, MPI_INT64_T, 0, tag, comm), "MPI_Send");
        if (count > 0) {
            comm::check(MPI_Send(mine.data(), static_cast<int>(count), MPI_DOUBLE, 0, tag, comm), "MPI_Send");
        }
        return {};
    }
    for (int rank = 1; rank < ranks; ++rank) {
        std::int64_t count = 0;
        comm::check(MPI_Recv(&count, 1, MPI_INT64_T, rank, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (count == 0) {
            continue;
        }
        const std::size_t start = mine.size();
        mine.resize(start + static_cast<std::size_t>(count));
        comm::check(MPI_Recv(mine.data() + start, static_cast<int>(count), MPI_DOUBLE, rank, tag, comm,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
    }
    return mine;
}

/// How many steps the next batch should have, after one of `steps` steps took `elapsed_s`. By MPI_Wtime, so
/// that a simulation repeats itself; its seconds hold many pairs, and there the number of pairs is the limit.
std::int64_t next_batch(std::int64_t steps, double elapsed_s, int hosts) {
    const std::int64_t limit = std::max(1, batch_pairs / ((hosts + 1) / 2));
    const double growth = elapsed_s > 0 ? std::clamp(batch_s / elapsed_s, 0.25, 4.0) : 4.0;
    return std::clamp(static_cast<std::int64_t>(static_cast<double>(steps) * growth), std::int64_t{1}, limit);
}

/// Labels as numbers from 0, in order of first appearance.
template <class Label>
std::vector<int> numbered(const std::vector<Label>& labels) {
    std::map<Label, int> numbers;
    std::vector<int> result;
    for (const Label& label : labels) {
        result.push_back(numbers.try_emplace(label, static_cast<int>(numbers.size())).first->second);
    }
    return result;
}

std::vector<int> number_hosts(const std::vector<comm::Place>& places) {
    std::vector<std::string> hosts;
    for (const comm::Place& place : places) hosts.push_back(place.host);
    return numbered(hosts);
}

/// The same for machines. Hosts that are one machine (namespaces, containers) take CPUs from each other where
/// there are fewer than ranks: then their pairs don't take turns at once either.
std::vector<int> number_machines(MPI_Comm comm, const clock::Occupancy& occupancy) {
    std::vector<int> machine_of_rank(static_cast<std::size_t>(comm::size_of(comm)));
    comm::check(MPI_Allgather(&occupancy.machine, 1, MPI_INT, machine_of_rank.data(), 1, MPI_INT, comm),
                "MPI_Allgather");
    return numbered(machine_of_rank);
}

/// The clusters of the options, if there are any; see number_machines() for those of ranks that are crowded.
std::optional<Clusters> clusters_to_obey(MPI_Comm comm, const Options& options,
                                         const clock::Occupancy& occupancy, bool crowded) {
    std::optional<Clusters> clusters = options.clusters;
    if (clusters && crowded) clusters->keep_together(number_machines(comm, occupancy));
    return clusters;
}

/// Numbers of which ranks of one have their turns one after the other.
std::vector<int> number_turns(MPI_Comm comm, const Options& options, const std::optional<Clusters>& clusters,
                              const std::vector<comm::Place>& places, const clock::Occupancy& occupancy,
                              bool crowded) {
    if (clusters) return numbered(clusters->groups());
    if (options.together == "none") return std::vector<int>(places.size(), 0);
    if (crowded) return number_machines(comm, occupancy);
    if (options.together == "nodes") return number_hosts(places);
    std::vector<int> ranks(places.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
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
      sizes_(options.sizes_bytes.size()),
      seed_(options.seed),
      parameters_(options.plogp),
      both_(options.both),
      sink_(std::move(sink)),
      start_s_(clock::now()),
      repetitions_(options.repetitions),
      budget_(options.budget_s),
      clusters_(clusters_to_obey(comm, options, occupancy, crowded)),
      turn_group_(number_turns(comm, options, clusters_, places, occupancy, crowded)),
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
    const Way way{.parameters = parameters_};
    const std::uint64_t missing = done.possible() - done.size();
    constexpr std::uint64_t few = 4;  // fewer than one in so many
    if (!clusters_ && missing * few >= done.possible()) {
        // In rounds of all pairs, where those that are not missing pass as well.
        const auto wanted = [&done](int one, int other) { return !done.contains(one, other); };
        return run(Rounds(turn_group_, seed_), wanted, way);
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
                                                seed_);
    }
    if (clusters_) return std::make_unique<const ClusterOrder>(*clusters_, std::move(pairs), seed_);
    return std::make_unique<const TurnList>(turn_group_, std::move(pairs), seed_);
}

int Campaign::stream(const std::vector<std::pair<int, int>>& pairs, std::int64_t bytes, int messages) {
    constexpr std::size_t window = 4;  // messages of a pair that are under way at once
    constexpr int tag = 32'020;
    std::vector<char> buffer(static_cast<std::size_t>(bytes), '\1');
    std::vector<double> packed;
    // So that nobody is late, nor still busy with what came before.
    gather();
    const double at_s = clock::now() - start_s_;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto& [sender, receiver] = pairs[k];
        if (rank_ != sender && rank_ != receiver) continue;
        const int peer = rank_ == sender ? receiver : sender;
        const double before_s = clock::now();
        std::vector<MPI_Request> under_way;
        for (int message = 0; message < messages; ++message) {
            if (under_way.size() == window) {
                comm::check(MPI_Wait(&under_way.front(), MPI_STATUS_IGNORE), "MPI_Wait");
                under_way.erase(under_way.begin());
            }
            under_way.push_back(MPI_REQUEST_NULL);
            if (rank_ == sender) {
                comm::check(MPI_Isend(buffer.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_,
                                      &under_way.back()),
                            "MPI_Isend");
            } else {
                comm::check(MPI_Irecv(buffer.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_,
                                      &under_way.back()),
                            "MPI_Irecv");
            }
        }
        comm::check(MPI_Waitall(static_cast<int>(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE),
                    "MPI_Waitall");
        // The receiver's word that all of it is there ends the time.
        if (rank_ == sender) {
            comm::check(MPI_Recv(nullptr, 0, MPI_BYTE, peer, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
            packed = {static_cast<double>(k), clock::now() - before_s};
        } else {
            comm::check(MPI_Send(nullptr, 0, MPI_BYTE, peer, tag, comm_), "MPI_Send");
        }
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
    if (!clusters_) return Rounds(turn_group_, seed_).steps();
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
            const std::vector<PairRecord> records = unpack(packed, sizes_);
            std::string lines;
            for (const PairRecord& record : records) lines += pair_line(record, repetitions_, way.again);
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
    if (both_) plogp_->serve(responder);
    return found;
}

void Campaign::respond_with_parameters(int initiator, std::vector<double>& packed) {
    plogp_->serve(initiator);
    if (!both_) return;
    const Parameters found = plogp_->measure(initiator);
    const auto [low, high] = std::minmax(rank_, initiator);
    packed.insert(packed.end(), {static_cast<double>(low), static_cast<double>(high),
                                 std::numeric_limits<double>::quiet_NaN(), 1});
    pack(found, packed);
}

}  // namespace isochrone::mpi::probe
