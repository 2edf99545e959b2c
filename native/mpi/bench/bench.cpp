// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>

#include "bench/aligned.hpp"
#include "bench/buffer.hpp"
#include "bench/files.hpp"
#include "bench/library.hpp"
#include "bench/operands.hpp"
#include "bench/options.hpp"
#include "bench/work.hpp"
#include "comm/check.hpp"
#include "comm/place.hpp"
#include "comm/program.hpp"
#include "comm/progress.hpp"
#include "executor/dispatcher.hpp"
#include "fabric/client.hpp"

namespace isochrone::mpi::bench {
namespace {

constexpr std::string_view native_prefix = "native:";
constexpr std::string_view all_native = "native:*";

/// The memory of one call.
struct Memory {
    std::byte* input = nullptr;
    std::byte* output = nullptr;
};

/// What a fabric's server tells rank 0 of the hosts, on all ranks. Collective. Throws comm::Failure on all
/// ranks.
std::string ask_fabric(MPI_Comm comm, const std::string& address, const std::vector<std::string>& hosts) {
    const auto where = core::place::parse_fabric_server(address);
    std::string asked;
    std::string complaint = "the fabric's server did not answer rank 0";
    if (comm::rank_in(comm) == 0) {
        try {
            asked = fabric::ask(where, hosts);
        } catch (const std::runtime_error& error) {
            complaint = error.what();
        }
    }
    auto length = static_cast<long long>(asked.size());
    comm::check(PMPI_Bcast(&length, 1, MPI_LONG_LONG, 0, comm), "MPI_Bcast");
    if (length == 0) throw comm::Failure(comm::failure, complaint);
    asked.resize(static_cast<std::size_t>(length));
    comm::check(PMPI_Bcast(asked.data(), static_cast<int>(length), MPI_BYTE, 0, comm), "MPI_Bcast");
    return asked;
}

/// One thing to time: the library's own (told which, or not), the plan's choice, or a recipe.
class Candidate {
  public:
    /// Collective. All that is made once is made here, so that no call that is timed has to.
    Candidate(std::string name, const Case& one, int rank, int size, Library& library,
              executor::Communicator* communicator, executor::Dispatcher* dispatcher)
        : name_(std::move(name)),
          case_(&one),
          operands_(operands_of(one, rank, size)),
          library_(&library),
          communicator_(communicator),
          dispatcher_(dispatcher) {
        library.prepare(*one.collective, "");
        if (name_ == core::compose::native_name) return;
        if (name_.starts_with(native_prefix)) {
            algorithm_ = name_.substr(native_prefix.size());
            library.prepare(*one.collective, algorithm_);
        } else if (name_ == "plan") {
            if (dispatcher == nullptr) throw std::invalid_argument("recipe 'plan' needs --plan");
            from_plan_ = true;
            dispatcher->decide(question(), one.bytes);
        } else {
            if (communicator == nullptr)
                throw std::invalid_argument("recipe '" + name_ + "' needs --topology");
            resolved_ = &communicator->resolve(*one.collective, core::compose::parse_recipe(name_));
            communicator->prepare(*resolved_, one.root);
        }
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Operands& operands() const { return operands_; }

    /// Whether the library's own takes part inside groups.
    [[nodiscard]] bool has_library_inside() const {
        const core::compose::Resolved* resolved =
            from_plan_ ? dispatcher_->decide(question(), case_->bytes).resolved : resolved_;
        return resolved != nullptr && resolved->has_library_inside();
    }

    void run(const Memory& memory) {
        if (from_plan_) {
            const auto& decision = dispatcher_->decide(question(), case_->bytes);
            if (decision.resolved != nullptr) {
                dispatcher_->run(decision, case_->root, buffers(memory), operands_.sizes);
                return;
            }
        }
        if (resolved_ != nullptr) {
            communicator_->run(*resolved_, case_->root, buffers(memory), operands_.sizes);
        } else {
            run_library(algorithm_, memory);
        }
    }

    /// The library's own, whatever the candidate is.
    void run_library(const std::string& algorithm, const Memory& memory) {
        library_->run(*case_->collective, algorithm,
                      {.input = memory.input,
                       .output = memory.output,
                       .count = static_cast<int>(operands_.count),
                       .type = operands_.type,
                       .op = operands_.op,
                       .root = case_->root,
                       .input_blocks = &operands_.input,
                       .output_blocks = &operands_.output});
    }

  private:
    [[nodiscard]] executor::Dispatcher::Question question() const { return {case_->collective, case_->root}; }

    [[nodiscard]] executor::Buffers buffers(const Memory& memory) const {
        return {.input = operands_.has_input ? memory.input : memory.output,
                .output = operands_.has_output ? memory.output : nullptr,
                .unit_bytes = operands_.element_bytes,
                .datatype = operands_.type,
                .op = operands_.op};
    }

    std::string name_;
    std::string algorithm_;
    const Case* case_;
    Operands operands_;
    Library* library_;
    executor::Communicator* communicator_;
    executor::Dispatcher* dispatcher_;
    const core::compose::Resolved* resolved_ = nullptr;
    bool from_plan_ = false;
};

class Bench {
  public:
    Bench(MPI_Comm comm, const Inputs& inputs, const std::vector<comm::Place>& places)
        : comm_(comm),
          rank_(comm::rank_in(comm)),
          work_(parse_work(inputs.work, comm::size_of(comm))),
          timer_(comm),
          library_(comm),
          input_(largest(&Operands::input_bytes)),
          output_(largest(&Operands::output_bytes)) {
        if (!inputs.topology.empty()) {
            auto topology = core::topology::parse(inputs.topology);
            if (!inputs.plan.empty()) {
                plan_ = core::select::parse_plan(inputs.plan);
                core::select::use_names_of(plan_, topology);
            }
            std::vector<core::topology::Place> known;
            for (const auto& place : places) known.push_back({place.host, place.cpus, place.signature});
            auto layout = core::place::match(topology, known);
            if (!work_.fabric.empty()) {
                auto hosts = fabric::hosts_of(places);
                const auto asked = ask_fabric(comm, work_.fabric, hosts.names);
                fabric::set_delays(layout, std::move(hosts), asked);
            }
            communicator_ = std::make_unique<executor::Communicator>(comm, layout);
            if (!inputs.plan.empty()) {
                dispatcher_ = std::make_unique<executor::Dispatcher>(layout, plan_, [comm, layout] {
                    return executor::Dispatcher::Opened{
                        std::make_unique<executor::Communicator>(comm, layout), ""};
                });
            }
        }
        for (Case& one : work_.cases) expand(one);
    }

    [[nodiscard]] const AlignedTimer& timer() const { return timer_; }
    /// How many collectives were run so far, with those that did not count.
    [[nodiscard]] std::int64_t calls() const { return calls_; }

    /// `record` gets each time, on rank 0. Throws comm::Failure on all ranks if a recipe leaves wrong bytes
    /// on any.
    template <class Record>
    void run(Record&& record) {
        std::size_t total = 0;
        for (const Case& one : work_.cases) {
            for (const auto& recipe : one.recipes) total += static_cast<std::size_t>(rounds(recipe));
        }
        comm::ProgressLines progress(total);
        std::size_t done = 0;
        std::mt19937_64 random(work_.seed);
        for (const Case& one : work_.cases) {
            std::vector<Candidate> candidates;
            std::size_t expected = done;
            for (const auto& recipe : one.recipes) {
                candidates.emplace_back(recipe, one, rank_, comm::size_of(comm_), library_,
                                        communicator_.get(), dispatcher_.get());
                expected += static_cast<std::size_t>(rounds(recipe));
            }
            // What a library sets up in its first call on a communicator is no part of any other call.
            if (work_.warmup == 0) {
                for (Candidate& candidate : candidates) {
                    if (candidate.has_library_inside()) timed(candidate);
                }
            }
            timer_.resynchronise();
            double spent_s = 0;
            for (int round = 0; round < work_.warmup + work_.repetitions; ++round) {
                // Times are the same on all ranks, and so is this.
                if (spent_s > work_.patience_s && round >= work_.warmup + work_.least_repetitions) break;
                std::shuffle(candidates.begin(), candidates.end(), random);
                for (Candidate& candidate : candidates) {
                    if (round >= rounds(candidate.name())) continue;
                    const double slowest = round == 0 ? checked(candidate, one) : timed(candidate);
                    spent_s += slowest;
                    if (rank_ == 0) {
                        if (round >= work_.warmup)
                            record(one, candidate.name(), round - work_.warmup, slowest);
                        progress.show(++done);
                    }
                }
            }
            done = expected;
        }
    }

  private:
    /// Of all cases, on this rank.
    [[nodiscard]] std::int64_t largest(std::int64_t Operands::*bytes) const {
        std::int64_t most = 0;
        for (const Case& one : work_.cases)
            most = std::max(most, operands_of(one, rank_, comm::size_of(comm_)).*bytes);
        return most;
    }
    /// How often a recipe is called, if patience lasts.
    [[nodiscard]] int rounds(const std::string& recipe) const {
        return work_.warmup +
               (recipe.starts_with(native_prefix) ? work_.rival_repetitions : work_.repetitions);
    }

    /// Replaces "native:*" by all that the library can be told, and leaves out what is named twice.
    void expand(Case& one) {
        std::vector<std::string> recipes;
        std::set<std::string> seen;
        const auto add = [&](const std::string& recipe) {
            if (seen.insert(recipe).second) recipes.push_back(recipe);
        };
        for (const auto& recipe : one.recipes) {
            if (recipe == all_native) {
                for (const auto& name : library_.names(*one.collective))
                    add(std::string(native_prefix) + name);
            } else {
                add(recipe);
            }
        }
        one.recipes = std::move(recipes);
    }

    Memory next(const Operands& operands) {
        return {input_.next(operands.input_bytes), output_.next(operands.output_bytes)};
    }

    double timed(Candidate& candidate) { return call(candidate, next(candidate.operands())); }

    double call(Candidate& candidate, const Memory& memory) {
        return timer_.time([&] {
            ++calls_;
            candidate.run(memory);
        });
    }

    /// The first time, the result is compared with that of the library's own: what is fast and wrong must not
    /// win.
    double checked(Candidate& candidate, const Case& one) {
        if (!Buffer::holds_contents()) return timed(candidate);
        const Operands& operands = candidate.operands();
        const Memory memory = next(operands);
        // Others on each rank and in each call, so that nothing is right by chance, or from the call before.
        const unsigned pattern = ++checks_ * 977 + static_cast<unsigned>(rank_) * 7919;
        Buffer::fill(memory.input, operands.input_bytes, pattern);
        Buffer::fill(memory.output, operands.output_bytes, pattern + 389);
        expected_.assign(memory.output, memory.output + operands.output_bytes);
        candidate.run_library("", {memory.input, expected_.data()});
        const double slowest = call(candidate, memory);
        int wrong = std::equal(expected_.begin(), expected_.end(), memory.output) ? 0 : 1;
        comm::check(PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
        if (wrong != 0) {
            std::string what(one.collective->words);
            if (one.collective->has_data) what += " of " + std::to_string(one.bytes) + " bytes";
            if (one.collective->rooted) what += ", root " + std::to_string(one.root);
            throw comm::Failure(comm::failure,
                                "recipe '" + candidate.name() + "' left wrong bytes in a " + what);
        }
        return slowest;
    }

    MPI_Comm comm_;
    int rank_;
    Work work_;
    AlignedTimer timer_;
    Library library_;
    Buffer input_;
    Buffer output_;
    std::vector<std::byte> expected_;
    std::unique_ptr<executor::Communicator> communicator_;
    core::select::Plan plan_;
    std::unique_ptr<executor::Dispatcher> dispatcher_;
    unsigned checks_ = 0;
    std::int64_t calls_ = 0;
};

}  // namespace

int run(MPI_Comm comm, int argc, char** argv) {
    const int rank = comm::rank_in(comm);
    const auto parsed = parse_options(argc, argv);
    if (const auto* leave = std::get_if<comm::Leave>(&parsed)) return comm::leave(comm, *leave);
    const auto& options = std::get<Options>(parsed);
    try {
        const Inputs inputs = read_inputs(comm, options);
        const auto places = comm::gather_places(comm);
        Bench bench(comm, inputs, places);
        Output output(comm, options.output);
        const double begin = clock::now();
        output.header(places, bench.timer(), comm::provenance_json(argc, argv));
        bench.run([&](const Case& one, const std::string& recipe, int repetition, double slowest_s) {
            output.time(one, recipe, repetition, slowest_s);
        });
        output.end(clock::now() - begin, bench.calls());
        return output.agree();
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
