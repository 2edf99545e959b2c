// SPDX-License-Identifier: BSD-3-Clause
//
// A communicator on which recipes run: its place in the topology, a private communicator for the messages,
// the groups for library collectives, and the cache of schedules.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "compose/bcast.hpp"
#include "executor/run.hpp"
#include "place/layout.hpp"

namespace isochrone::mpi::executor {

class Communicator {
  public:
    /// Collective over `comm`: makes a private communicator of the same ranks (by MPI_Comm_split, which runs
    /// no attribute copy functions of the program's). `layout` must be of these ranks.
    Communicator(MPI_Comm comm, core::place::Layout layout);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// For the destructor: MPI is being, or has been, finalised, and the communicators are gone already.
    void abandon();

    [[nodiscard]] const core::place::Layout& layout() const { return layout_; }

    /// A recipe checked for this communicator; the reference stays good. Throws std::invalid_argument as
    /// resolve_bcast does.
    const core::compose::Resolved& resolve_bcast(const core::compose::Recipe& recipe);

    /// Collective. Makes all that a recipe needs for a root: schedule and groups. bcast() does so by itself
    /// when a recipe first runs; who wants that out of the time that it takes calls this before.
    const core::schedule::Schedule& prepare_bcast(const core::compose::Resolved& resolved, int root);

    /// Collective. Broadcasts `bytes` contiguous bytes by a recipe other than native.
    void bcast(const core::compose::Resolved& resolved, void* data, std::int64_t bytes, int root);

    /// Collective. Runs a schedule that the caller made; nothing is cached.
    void run(const core::schedule::Schedule& schedule, const core::schedule::Extents& extents,
             const Buffers& buffers);

  private:
    MPI_Comm group(int level);
    int next_tag();
    int window(std::int64_t segment_bytes);

    MPI_Comm comm_ = MPI_COMM_NULL;
    core::place::Layout layout_;
    int rank_ = 0;
    int largest_tag_ = 32767;
    int tag_ = 0;
    std::map<int, MPI_Comm> groups_;       // by level
    std::map<std::int64_t, int> windows_;  // by bytes of a segment
    std::map<std::string, core::compose::Resolved, std::less<>> resolved_;
    std::map<std::pair<const core::compose::Resolved*, int>, core::schedule::Schedule>
        schedules_;  // by recipe and root
    Scratch scratch_;
};

}  // namespace isochrone::mpi::executor
