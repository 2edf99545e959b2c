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
#include "bench/library_bcast.hpp"
#include "bench/options.hpp"
#include "bench/work.hpp"
#include "comm/check.hpp"
#include "comm/place.hpp"
#include "comm/program.hpp"
#include "comm/progress.hpp"
#include "executor/dispatcher.hpp"

namespace isochrone::mpi::bench {
namespace {

const core::collectives::Collective& collective = core::collectives::named("bcast");
constexpr std::string_view native_prefix = "native:";
constexpr std::string_view all_native = "native:*";

/// One thing to time: the library's own (told which, or not), the plan's choice, or a recipe.
class Candidate {
  public:
    /// Collective. All that is made once is made here, so that no call that is timed has to.
    Candidate(std::string name, const Case& one, LibraryBcast& library, executor::Communicator* communicator,
              executor::Dispatcher* dispatcher)
        : name_(std::move(name)), library_(&library), communicator_(communicator), dispatcher_(dispatcher) {
        if (name_ == core::compose::native_name) return;
        if (name_.starts_with(native_prefix)) {
            algorithm_ = name_.substr(native_prefix.size());
            library.prepare(algorithm_);
        } else if (name_ == "plan") {
            if (dispatcher == nullptr) throw std::invalid_argument("recipe 'plan' needs --plan");
            from_plan_ = true;
            dispatcher->decide({&collective, one.root}, one.bytes);
        } else {
            if (communicator == nullptr)
                throw std::invalid_argument("recipe '" + name_ + "' needs --topology");
            resolved_ = &communicator->resolve(collective, core::compose::parse_recipe(name_));
            communicator->prepare(*resolved_, one.root);
        }
    }

    [[nodiscard]] const std::string& name() const { return name_; }

    /// Whether the library's own broadcast takes part inside groups.
    [[nodiscard]] bool has_library_inside(const Case& one) const {
        const core::compose::Resolved* resolved =
            from_plan_ ? dispatcher_->decide({&collective, one.root}, one.bytes).resolved : resolved_;
        return resolved != nullptr && resolved->has_library_inside();
    }

    void run(std::byte* data, std::int64_t bytes, int root) {
        if (from_plan_) {
            const auto& decision = dispatcher_->decide({&collective, root}, bytes);
            if (decision.resolved != nullptr) {
                dispatcher_->run(decision, root, {.input = data, .output = data}, bytes);
                return;
            }
        }
        if (resolved_ != nullptr) {
            communicator_->run(*resolved_, root, {.input = data, .output = data}, bytes);
        } else {
            library_->bcast(algorithm_, data, static_cast<int>(bytes), root);
        }
    }

  private:
    std::string name_;
    std::string algorithm_;
    LibraryBcast* library_;
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
          buffer_(largest(work_)) {
        if (!inputs.topology.empty()) {
            auto topology = core::topology::parse(inputs.topology);
            if (!inputs.plan.empty()) {
                plan_ = core::select::parse_plan(inputs.plan);
                core::select::use_names_of(plan_, topology);
            }
            std::vector<core::topology::Place> known;
            for (const auto& place : places) known.push_back({place.host, place.cpus, place.signature});
            const auto layout = core::place::match(topology, known);
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
                candidates.emplace_back(recipe, one, library_, communicator_.get(), dispatcher_.get());
                expected += static_cast<std::size_t>(rounds(recipe));
            }
            // What a library sets up in its first call on a communicator is no part of any other call.
            if (work_.warmup == 0) {
                for (Candidate& candidate : candidates) {
                    if (candidate.has_library_inside(one)) timed(candidate, one);
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
                    const double slowest = round == 0 ? checked(candidate, one) : timed(candidate, one);
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
    static std::int64_t largest(const Work& work) {
        std::int64_t bytes = 0;
        for (const Case& one : work.cases) bytes = std::max(bytes, one.bytes);
        return bytes;
    }
    /// How often a recipe is called, if patience lasts.
    [[nodiscard]] int rounds(const std::string& recipe) const {
        return work_.warmup +
               (recipe.starts_with(native_prefix) ? work_.rival_repetitions : work_.repetitions);
    }

    /// Replaces "native:*" by all that the library can be told, and leaves out what is named twice.
    void expand(Case& one) const {
        std::vector<std::string> recipes;
        std::set<std::string> seen;
        const auto add = [&](const std::string& recipe) {
            if (seen.insert(recipe).second) recipes.push_back(recipe);
        };
        for (const auto& recipe : one.recipes) {
            if (recipe == all_native) {
                for (const auto& name : library_.names()) add(std::string(native_prefix) + name);
            } else {
                add(recipe);
            }
        }
        one.recipes = std::move(recipes);
    }

    double timed(Candidate& candidate, const Case& one) {
        std::byte* data = buffer_.next(one.bytes);
        return call(candidate, data, one);
    }

    double call(Candidate& candidate, std::byte* data, const Case& one) {
        return timer_.time([&] {
            ++calls_;
            candidate.run(data, one.bytes, one.root);
        });
    }

    /// The first time, the bytes are looked at: a fast wrong broadcast must not win.
    double checked(Candidate& candidate, const Case& one) {
        if (!Buffer::holds_contents()) return timed(candidate, one);
        ++pattern_;
        std::byte* data = buffer_.next(one.bytes);
        Buffer::fill(data, one.bytes, rank_ == one.root ? pattern_ : pattern_ + 1);
        const double slowest = call(candidate, data, one);
        int wrong = Buffer::holds(data, one.bytes, pattern_) ? 0 : 1;
        comm::check(PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
        if (wrong != 0) {
            throw comm::Failure(comm::failure, "recipe '" + candidate.name() +
                                                   "' left wrong bytes in a broadcast of " +
                                                   std::to_string(one.bytes) + " bytes from rank " +
                                                   std::to_string(one.root));
        }
        return slowest;
    }

    MPI_Comm comm_;
    int rank_;
    Work work_;
    AlignedTimer timer_;
    LibraryBcast library_;
    Buffer buffer_;
    std::unique_ptr<executor::Communicator> communicator_;
    core::select::Plan plan_;
    std::unique_ptr<executor::Dispatcher> dispatcher_;
    unsigned pattern_ = 0;
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
