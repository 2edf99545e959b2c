// SPDX-License-Identifier: BSD-3-Clause
//
// An emulated network as arithmetic: a tree of links between hosts and switches, and when a burst of packets
// that enters it at one host leaves it at another. It has no clock and no sockets: times are handed in.
//
// A link is full duplex. Each direction serialises packets first in, first out at the link's rate, then
// delays them; what comes when more than `queue_bytes` wait is dropped. Switches forward packet by packet:
// the first packet of a burst is on the next link while the last is still on the one before.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace isochrone::lab {

using Nanoseconds = std::int64_t;

/// A node of the tree together with the link to its parent. Leaves are hosts.
struct Node {
    std::string name;
    int parent = -1;                  ///< index of a node before this one; -1: the root, which has no link
    double nanoseconds_per_byte = 0;  ///< 0: the rate is not limited
    Nanoseconds delay = 0;            ///< of each direction
    std::int64_t queue_bytes = 0;
};

/// What went over one direction of a link.
struct Traffic {
    std::int64_t packets = 0;
    std::int64_t bytes = 0;
    std::int64_t dropped_packets = 0;
};

/// How late bursts were handed to a host, after the moment that the network meant.
struct Lateness {
    std::int64_t bursts = 0;
    Nanoseconds total = 0;
    Nanoseconds most = 0;
};

/// Packets that travel together: the kernel hands over up to 64 KiB of one connection at a time.
struct Burst {
    std::int64_t bytes = 0;  ///< of all packets, headers included
    std::int64_t packets = 1;
    std::int64_t packet_bytes = 0;  ///< of the largest packet
    std::vector<std::byte> content;
};

/// A burst that has come to a host.
struct Arrival {
    int host = 0;  ///< node
    Nanoseconds due = 0;
    Burst burst;
};

class Network {
  public:
    /// Throws std::invalid_argument if the nodes are no tree.
    explicit Network(std::vector<Node> nodes);

    [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
    /// The nodes without children, in their order.
    [[nodiscard]] const std::vector<int>& hosts() const { return hosts_; }
    [[nodiscard]] const Traffic& up(int node) const { return lanes_.at(node).up.traffic; }
    [[nodiscard]] const Traffic& down(int node) const { return lanes_.at(node).down.traffic; }

    /// Takes in a burst from one host for another. `now` must not be before that of any earlier call.
    void enter(int from, int to, Burst burst, Nanoseconds now);

    /// The next burst that is due at `now` or before, in the order of their times; none: all later.
    [[nodiscard]] std::optional<Arrival> leave(Nanoseconds now);

    /// The latest moment for the next call of `leave`, so that nothing is late; none: nothing is under way.
    [[nodiscard]] std::optional<Nanoseconds> next() const;

  private:
    struct Lane {
        Nanoseconds free = 0;
        Traffic traffic;
    };
    struct Lanes {
        Lane up, down;
    };
    struct Hop {
        int node;
        bool upwards;
    };
    /// A burst on its way: its first packet reaches the queue of hop number `hop` at `head`, its last at
    /// `tail`.
    struct Travel {
        Nanoseconds head = 0;
        Nanoseconds tail = 0;
        std::uint64_t order = 0;
        const std::vector<Hop>* path = nullptr;
        std::size_t hop = 0;
        std::size_t burst = 0;  ///< index in bursts_
    };
    struct Later {
        bool operator()(const Travel& a, const Travel& b) const;
    };
    using Heap = std::priority_queue<Travel, std::vector<Travel>, Later>;

    void move(Nanoseconds now);
    void cross(Travel travel);
    [[nodiscard]] std::vector<Hop> path(int from, int to) const;

    std::vector<Node> nodes_;
    std::vector<int> hosts_;
    std::vector<int> depth_;
    std::vector<Lanes> lanes_;
    std::vector<std::vector<std::vector<Hop>>> paths_;  ///< [from][to], filled at first use
    std::vector<Burst> bursts_;
    std::vector<std::size_t> unused_;  ///< indices in bursts_
    Heap inside_;                      ///< by head: still to cross links
    Heap leaving_;                     ///< by tail: to be handed over
    Nanoseconds least_delay_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace isochrone::lab
