// SPDX-License-Identifier: BSD-3-Clause
//
// A communicator on which recipes run: its place in the topology, the lane for its messages, the groups for
// library collectives, and the cache of schedules.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compose/compose.hpp"
#include "executor/groups.hpp"
#include "executor/run.hpp"
#include "place/layout.hpp"

namespace isochrone::mpi::executor {

/// Where the messages of one communicator go: over another that holds its ranks and may serve many, each with
/// tags of its own where several may be used at once.
struct Lane {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> ranks;  ///< number in `comm` of each rank
    int first_tag = 0;
    int tags = 1;
};

class Communicator {
  public:
    /// Local. Messages go over `comm` itself, and prepare() makes the groups that recipes need of its ranks.
    /// For programs that have no messages of their own under way there while a recipe runs. `layout` must be
    /// of these ranks.
    Communicator(MPI_Comm comm, core::place::Layout layout);

    /// Local. Makes no communicator, now or later: a recipe that needs groups must find them in `groups`,
    /// which may be nullptr, and must outlive this.
    Communicator(int rank, core::place::Layout layout, Lane lane, const Groups* groups);

    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] const core::place::Layout& layout() const { return layout_; }

    /// A recipe checked for this communicator; the reference stays good. Throws std::invalid_argument as
    /// compose::resolve does.
    const core::compose::Resolved& resolve(const core::collectives::Collective& collective,
                                           const core::compose::Recipe& recipe, bool in_order = false);

    /// Whether the groups that a recipe needs are there, or can be made.
    [[nodiscard]] bool has_groups_for(const core::compose::Resolved& resolved) const;

    /// Makes all that a recipe needs for a root: schedule and groups; collective where groups may be made.
    /// run() does so by itself when a recipe first runs; who wants that out of the time that it takes calls
    /// this before. `in_place`: on this rank.
    void prepare(const core::compose::Resolved& resolved, int root, bool in_place = false);

    /// Collective. Runs a recipe other than native; `root` is 0 where the collective has none. `sizes` as
    /// collectives::extents gives them; the recipe sets the segment.
    void run(const core::compose::Resolved& resolved, int root, const Buffers& buffers,
             core::schedule::Extents sizes);
    /// ... where all ranks have one message, of `units`.
    void run(const core::compose::Resolved& resolved, int root, const Buffers& buffers, std::int64_t units);

    /// After so many runs one has the tag of the first again.
    [[nodiscard]] int tags() const { return lane_.tags; }
    /// In place of a run that does not begin here, and does elsewhere: it has a tag there.
    void skip_run() { static_cast<void>(next_tag()); }

    /// Gives back the memory that runs have needed so far.
    void release_scratch() { scratch_ = {}; }

    /// After a run that failed: what messages may still be on their way to stays where it is for good.
    void abandon_scratch();

  private:
    /// A schedule, laid out to be run many times.
    struct Prepared {
        explicit Prepared(core::schedule::Schedule made) : schedule(std::move(made)), runner(schedule) {}
        core::schedule::Schedule schedule;
        Runner runner;
    };
    Prepared& prepared(const core::compose::Resolved& resolved, int root, bool in_place);
    int next_tag();
    int window(std::int64_t segment_bytes);

    core::place::Layout layout_;
    int rank_ = 0;
    Lane lane_;
    int tag_ = 0;
    std::unique_ptr<Groups> own_groups_;  // where it may make some
    const Groups* groups_ = nullptr;
    std::map<std::int64_t, int> windows_;  // by bytes of a segment
    std::map<std::tuple<std::string_view, std::string, bool>, core::compose::Resolved>
        resolved_;  // by collective, recipe, and whether in order
    std::map<std::tuple<const core::compose::Resolved*, int, bool>, Prepared>
        schedules_;  // by recipe, root, and whether in place
    Scratch scratch_;
};

}  // namespace isochrone::mpi::executor
