// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>

#include "bench/aligned.hpp"
#include "bench/buffer.hpp"
#include "bench/candidate.hpp"
#include "bench/files.hpp"
#include "bench/follow.hpp"
#include "bench/operands.hpp"
#include "bench/options.hpp"
#include "bench/party.hpp"
#include "bench/running.hpp"
#include "bench/work.hpp"
#include "comm/check.hpp"
#include "comm/place.hpp"
#include "comm/program.hpp"
#include "comm/progress.hpp"
#include "comm/shared_text.hpp"
#include "fabric/client.hpp"
#include "place/hardware.hpp"

namespace isochrone::mpi::bench {
namespace {

constexpr std::string_view all_native = "native:*";

/// Of a block; and what agreeing on one may take of its time.
constexpr std::size_t most_calls = 64;
constexpr double block_share = 0.1;

/// What a fabric's server tells rank 0 of the hosts, on all ranks. Collective. Throws comm::Failure on all
/// ranks.
std::string ask_fabric(MPI_Comm comm, const std::string& address, const std::vector<std::string>& hosts) {
    const auto where = core::place::parse_fabric_server(address);
    return comm::shared_text(comm, [&] { return fabric::ask(where, hosts); }).value();
}

/// A call of a block.
struct Turn {
    Running* running = nullptr;
    int repetition = 0;
    std::size_t which = 0;  ///< of the candidates
    double expected_s = 0;
    int missed = 0;  ///< starts of it
};

class Bench {
  public:
    Bench(MPI_Comm comm, AlignedTimer& timer, const Inputs& inputs, const std::vector<comm::Place>& places)
        : comm_(comm),
          rank_(comm::rank_in(comm)),
          work_(parse_work(inputs.work, comm::size_of(comm))),
          timer_(timer) {
        if (!inputs.topology.empty()) {
            auto topology = core::topology::parse(inputs.topology);
            if (!inputs.plan.empty()) {
                plan_ = core::select::parse_plan(inputs.plan);
                core::select::use_names_of(*plan_, topology);
            }
            layout_ = core::place::match(topology, places);
        } else {
            std::vector<core::place::Seat> seats;
            for (const auto& place : places) seats.push_back({.host = place.host});
            layout_ = core::place::of_hardware(seats);
        }
        if (!work_.fabric.empty()) {
            auto hosts = fabric::hosts_of(places);
            const auto asked = ask_fabric(comm, work_.fabric, hosts.names);
            fabric::set_delays(layout_, std::move(hosts), asked);
        }
        for (Case& one : work_.cases) {
            Party& party = party_of(one.members);
            expand(one, party);
            running_.push_back({&one, &party});
        }
        memories_ =
            std::make_unique<Memories>(largest(&Operands::input_bytes), largest(&Operands::output_bytes));
    }

    /// How many collectives were run so far, with those that did not count.
    [[nodiscard]] std::int64_t calls() const { return calls_; }

    /// Sweeps over all cases, in another order each time, until each has as many repetitions as it may: so
    /// those of one case are spread over the whole time, and what disturbs for a while disturbs all alike.
    /// `record` gets each time, on rank 0. Throws comm::Failure on all ranks if a recipe leaves wrong bytes
    /// on any.
    template <class Record>
    void run(Record&& record) {
        std::size_t total = 0;
        for (const Case& one : work_.cases) {
            for (const auto& recipe : one.recipes) total += static_cast<std::size_t>(most(recipe));
        }
        comm::ProgressLines progress(total);
        std::size_t done = 0;
        std::mt19937_64 random(work_.seed);
        deadline_s_ = timer_.agreed_now() + work_.budget_s;
        std::vector<Running*> left;
        for (Running& one : running_) {
            if (!one.one->recipes.empty()) left.push_back(&one);
        }
        std::vector<Turn> block;
        const auto time_block = [&] {
            auto missed = time(block, record);
            done += block.size() - missed.size();
            if (rank_ == 0) progress.show(done);
            for (const Turn& turn : block) {
                if (turn.running->is_done && turn.running->under_way == 0) turn.running->candidates.clear();
            }
            block = std::move(missed);
        };
        while (!left.empty()) {
            std::shuffle(left.begin(), left.end(), random);
            for (Running* const one : left) {
                if (one->candidates.empty()) calls_ += open(*one, work_, *memories_, timer_, ++checks_);
                add_turns(*one, random, block);
                const bool is_long = one->spent_s > patience_s();
                one->is_done = one->repetitions >= work_.repetitions ||
                               (is_long && one->repetitions >= work_.least_repetitions);
                if (is_whole(block)) time_block();
            }
            std::erase_if(left, [](const Running* one) { return one->is_done; });
        }
        while (!block.empty()) time_block();
        if (rank_ == 0) progress.show(total);
    }

  private:
    /// Of all cases, on this rank.
    [[nodiscard]] std::int64_t largest(std::int64_t Operands::* bytes) const {
        std::int64_t result = 0;
        for (const Running& one : running_) {
            if (!one.party->takes_part()) continue;
            result = std::max(result, operands_of(*one.one, one.party->rank(), one.party->size()).*bytes);
        }
        return result;
    }

    /// How often a recipe is timed, if time lasts.
    [[nodiscard]] int most(const std::string& recipe) const {
        return recipe.starts_with(native_prefix) ? work_.rival_repetitions : work_.repetitions;
    }

    Party& party_of(const std::vector<int>& members) {
        auto& party = parties_[members];
        if (!party) {
            party = std::make_unique<Party>(comm_, members, timer_.occupancy(), layout_,
                                            plan_ ? &*plan_ : nullptr);
            wait_for_members(members, timer_);
        }
        return *party;
    }

    /// Replaces "native:*" by all that the library can be told, and leaves out what is named twice.
    void expand(Case& one, const Party& party) {
        std::vector<std::string> recipes;
        std::set<std::string> seen;
        const auto add = [&](const std::string& recipe) {
            if (seen.insert(recipe).second) recipes.push_back(recipe);
        };
        for (const auto& recipe : one.recipes) {
            if (recipe != all_native) {
                add(recipe);
            } else if (one.members.empty()) {
                for (const auto& name : party.library().names(*one.collective, one.bytes))
                    add(std::string(native_prefix) + name);
            } else {
                throw std::invalid_argument("'native:*' is for all ranks: name what the library is told");
            }
        }
        one.recipes = std::move(recipes);
    }

    /// Adds some repetitions of a case to a block, the candidates of each in random order.
    void add_turns(Running& running, std::mt19937_64& random, std::vector<Turn>& block) const {
        const auto& candidates = running.candidates;
        std::vector<std::size_t> order(candidates.size());
        std::iota(order.begin(), order.end(), 0);
        for (int left = repetitions_of_visit(running); left > 0; --left) {
            const int repetition = running.repetitions++;
            std::shuffle(order.begin(), order.end(), random);
            for (const std::size_t which : order) {
                if (repetition >= most(candidates[which].name())) continue;
                const double expected_s = running.expected_s[which];
                block.push_back({&running, repetition, which, expected_s});
                running.spent_s += expected_s;
                ++running.under_way;
            }
        }
    }

    /// Whether agreeing on a block takes no more than a tenth of its time, or whether it has enough calls.
    /// Where times are simulated a case is done as soon as it can be: what it holds may be much, and nothing
    /// disturbs for a while.
    [[nodiscard]] bool is_whole(const std::vector<Turn>& block) const {
        if (!Buffer::holds_contents() || block.size() >= most_calls) return true;
        double calls_s = 0;
        for (const Turn& turn : block) calls_s += turn.expected_s;
        return calls_s * block_share > timer_.block_s();
    }

    /// Times the calls of a block. Returns those whose start was missed, which are to be in the next.
    template <class Record>
    [[nodiscard]] std::vector<Turn> time(const std::vector<Turn>& block, Record& record) {
        timer_.keep_synchronised();
        std::vector<TimedCall> calls;
        for (const Turn& turn : block) {
            const Running& running = *turn.running;
            auto& made = calls.emplace_back(TimedCall{[this, &turn, &running] {
                                                          if (running.party->takes_part())
                                                              call(running.candidates[turn.which]);
                                                      },
                                                      turn.expected_s, turn.missed});
            if (!running.party->takes_part() || !running.candidates[turn.which].is_told()) continue;
            made.before = [&candidate = running.candidates[turn.which]] { candidate.tell(); };
            made.after = [&candidate = running.candidates[turn.which]] { candidate.untell(); };
        }
        const auto timings = timer_.time(calls);
        std::vector<Turn> missed;
        for (std::size_t i = 0; i < block.size(); ++i) {
            const Turn& turn = block[i];
            if (timings[i].is_missed) {
                missed.push_back(turn);
                ++missed.back().missed;
                continue;
            }
            const double taken_s = timings[i].taken_s;
            Running& running = *turn.running;
            --running.under_way;
            running.spent_s += taken_s - turn.expected_s;
            // Of a first call, which sets things up, one knows little; a median of two is their mean.
            double& expected = running.expected_s[turn.which];
            expected = turn.repetition == 0 ? taken_s : (3 * expected + taken_s) / 4;
            const Candidate& candidate = running.candidates[turn.which];
            if (rank_ == 0)
                record(*running.one, candidate.name(), turn.repetition, taken_s / candidate.parts());
        }
        return missed;
    }

    /// What the calls of one case may take; equal on all ranks. When the time for all is over those that take
    /// less than an even share of it go on: they cost little, and what is proven by few calls is nothing.
    [[nodiscard]] double patience_s() const {
        const bool is_late = timer_.last_start_s() > deadline_s_;
        const double even_s = work_.budget_s / static_cast<double>(work_.cases.size());
        return is_late ? std::min(even_s, work_.patience_s) : work_.patience_s;
    }

    /// How many repetitions of a case come after each other: so many that agreeing on them takes a fifth of
    /// the time at most, and so few that they are not done before what disturbs has passed.
    [[nodiscard]] int repetitions_of_visit(const Running& running) const {
        constexpr double share = 0.2;
        const int left = work_.repetitions - running.repetitions;
        const int most = std::max(1, static_cast<int>(most_calls / running.candidates.size()));
        if (!Buffer::holds_contents()) return std::min(left, most);
        double once = 1e-9;
        for (const double expected : running.expected_s) once += expected;
        const double wanted = timer_.agreement_s() / share / once;
        const double patient = (patience_s() - running.spent_s) / once;
        const auto whole = [](double many) { return static_cast<int>(std::clamp(many, 0.0, 1e6)); };
        const int allowed = std::max(work_.least_repetitions - running.repetitions, whole(patient));
        return std::max(1, std::min({left, most, whole(wanted) + 1, allowed}));
    }

    void call(const Candidate& candidate) {
        ++calls_;
        candidate.run(memories_->next(candidate.operands()));
    }

    MPI_Comm comm_;
    int rank_;
    Work work_;
    AlignedTimer& timer_;
    core::place::Layout layout_;  ///< where there is no topology, of the hosts alone
    std::optional<core::select::Plan> plan_;
    std::map<std::vector<int>, std::unique_ptr<Party>> parties_;  // by members
    std::vector<Running> running_;
    std::unique_ptr<Memories> memories_;
    unsigned checks_ = 0;
    std::int64_t calls_ = 0;
    double deadline_s_ = 0;  // on the timer's clock
};

/// Times the work that the options name; the exit code, the same on all ranks.
int time_one(MPI_Comm comm, AlignedTimer& timer, const Options& options,
             const nlohmann::ordered_json& provenance) {
    const Inputs inputs = read_inputs(comm, options);
    const auto places = comm::gather_places(comm);
    Bench bench(comm, timer, inputs, places);
    Output output(comm, options.output);
    const double begin = clock::now();
    output.header(places, timer, provenance);
    bench.run([&](const Case& one, const std::string& recipe, int repetition, double slowest_s) {
        output.time(one, recipe, repetition, slowest_s);
    });
    output.end(clock::now() - begin, bench.calls());
    return output.agree();
}

}  // namespace

int run(MPI_Comm comm, int argc, char** argv) {
    const int rank = comm::rank_in(comm);
    const auto parsed = parse_options(argc, argv);
    if (const auto* leave = std::get_if<comm::Leave>(&parsed)) return comm::leave(comm, *leave);
    const auto& options = std::get<Options>(parsed);
    const auto provenance = comm::provenance_json(argc, argv);
    try {
        AlignedTimer timer(comm);
        const auto time = [&](const Options& asked) { return time_one(comm, timer, asked, provenance); };
        return options.follow ? follow(comm, time) : time(options);
    } catch (const comm::Failure& failure) {
        if (rank == 0) std::fprintf(stderr, "isochrone-bench: %s\n", failure.what());
        return failure.code();
    } catch (const std::invalid_argument& error) {
        // Inputs are the same on all ranks, and so is what is wrong with them.
        if (rank == 0) std::fprintf(stderr, "isochrone-bench: %s\n", error.what());
        return comm::usage_error;
    }
}

}  // namespace isochrone::mpi::bench
