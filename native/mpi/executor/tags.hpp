// SPDX-License-Identifier: BSD-3-Clause
//
// The tags of one run's messages. The k-th receive from a peer is for its k-th send, and MPI itself sees to
// that where all have one tag (MPI-3.1, section 3.5).
//
// SimGrid does not: receives up to the eager limit and larger ones wait in two queues, and a message up to
// the limit goes to a larger receive even if a smaller one was posted before it. So there the messages
// between two ranks have tags in turn, as many as receives from one peer can wait at once.
#pragma once

#ifdef ISOCHRONE_SMPI
#include <map>
#include <tuple>

#include "place/window.hpp"
#endif
#include "schedule/schedule.hpp"

namespace isochrone::mpi::executor {

/// MPI_TAG_UB, at least 32767.
[[nodiscard]] int largest_tag();

#ifdef ISOCHRONE_SMPI

class Tags {
  public:
    explicit Tags(int /*tag*/) {}

    /// Of a send or a receive that is about to start; those towards one peer start in their order.
    [[nodiscard]] int next(const core::schedule::Op& op) {
        return started_[{op.kind, op.peer}]++ % core::place::largest_window;
    }

  private:
    std::map<std::tuple<core::schedule::OpKind, int>, int> started_;
};

#else

class Tags {
  public:
    explicit Tags(int tag) : tag_(tag) {}

    [[nodiscard]] int next(const core::schedule::Op& /*op*/) const { return tag_; }

  private:
    int tag_;
};

#endif

}  // namespace isochrone::mpi::executor
