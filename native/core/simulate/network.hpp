// SPDX-License-Identifier: BSD-3-Clause
//
// The ways that messages take between ranks, and when each is free. The model is described in simulate.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "place/layout.hpp"
#include "plogp/rendezvous.hpp"

namespace isochrone::core::simulate {

/// A message on its way.
struct Passage {
    double head_s = 0;     ///< when its first byte has reached the way at hand
    double drained_s = 0;  ///< when its last byte has left the sender's side
};

/// The ways between two ranks.
struct Path {
    int to = 0;
    int level = 0;              ///< where the two meet
    std::vector<int> ways_out;  ///< shared, innermost first
    std::vector<int> ways_in;   ///< shared, outermost first
};

/// [level], the seconds that a byte keeps the way out of one of its groups, or the way in; 0 where nothing is
/// shared. See simulate.hpp.
[[nodiscard]] std::vector<double> way_s_per_byte(const place::Layout& layout);

class Network {
  public:
    /// The layout must outlive the network.
    explicit Network(const place::Layout& layout);

    /// Throws std::invalid_argument if the ranks meet at no level.
    [[nodiscard]] Path path(int from, int to) const;
    [[nodiscard]] const plogp::Parameters& links(const Path& path) const;
    [[nodiscard]] const plogp::Rendezvous& rendezvous(const Path& path) const;

    /// The head of a message of this size enters the shared ways out at `at_s`, having been asked for and got
    /// through the sender's own way.
    Passage leave(const Path& path, std::int64_t size_bytes, double at_s);
    /// The head has come to the receiver's side. Returns when the last byte has arrived.
    double arrive(const Path& path, std::int64_t size_bytes, const Passage& passage);

  private:
    struct Way {
        int level = 0;  // whose links say how long a message takes it
        double s_per_byte = 0;
        bool measured = false;
        double free_s = 0;
    };
    [[nodiscard]] double occupied_s(const Way& way, std::int64_t size_bytes) const;
    [[nodiscard]] int way_of(int level, int rank) const;
    /// Takes the ways one after the other from `head_s` on, which becomes when the head is through; returns
    /// when the last byte is.
    double take(const std::vector<int>& ways, std::int64_t size_bytes, double& head_s);

    const place::Layout& layout_;
    std::vector<plogp::Rendezvous> rendezvous_;  // [level]
    std::vector<std::vector<int>>
        way_of_;  // [level][rank]: the way out of the rank's group; in is the next; -1: none
    std::vector<Way> ways_;
    std::vector<double> in_free_s_;  // [rank]
};

}  // namespace isochrone::core::simulate
