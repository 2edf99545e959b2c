// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace isochrone::lab {

namespace {

Nanoseconds time_of(std::int64_t bytes, const Node& link) {
    return static_cast<Nanoseconds>(static_cast<double>(bytes) * link.nanoseconds_per_byte);
}

}  // namespace

bool Network::Later::operator()(const Travel& a, const Travel& b) const {
    return std::pair(a.head, a.order) > std::pair(b.head, b.order);
}

Network::Network(std::vector<Node> nodes) : nodes_(std::move(nodes)), lanes_(nodes_.size()) {
    std::vector<bool> has_children(nodes_.size(), false);
    least_delay_ = std::numeric_limits<Nanoseconds>::max();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        const bool is_root = i == 0;
        if (is_root ? node.parent != -1 : (node.parent < 0 || node.parent >= static_cast<int>(i))) {
            throw std::invalid_argument(node.name + ": its parent is not a node before it");
        }
        depth_.push_back(is_root ? 0 : depth_[node.parent] + 1);
        if (is_root) continue;
        has_children[node.parent] = true;
        least_delay_ = std::min(least_delay_, node.delay);
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        if (!has_children[i]) hosts_.push_back(static_cast<int>(i));
    }
    if (hosts_.empty()) throw std::invalid_argument("a network without hosts");
    paths_.resize(nodes_.size(), std::vector<std::vector<Hop>>(nodes_.size()));
}

std::vector<Network::Hop> Network::path(int from, int to) const {
    std::vector<Hop> hops;
    std::vector<Hop> downwards;
    while (from != to) {
        if (depth_[from] >= depth_[to]) {
            hops.push_back({from, true});
            from = nodes_[from].parent;
        } else {
            downwards.push_back({to, false});
            to = nodes_[to].parent;
        }
    }
    hops.insert(hops.end(), downwards.rbegin(), downwards.rend());
    return hops;
}

void Network::enter(int from, int to, Burst burst, Nanoseconds now) {
    move(now);
    std::vector<Hop>& hops = paths_.at(from).at(to);
    if (hops.empty()) hops = path(from, to);
    if (hops.empty()) return;
    std::size_t index = bursts_.size();
    if (unused_.empty()) {
        bursts_.push_back(std::move(burst));
    } else {
        index = unused_.back();
        unused_.pop_back();
        bursts_[index] = std::move(burst);
    }
    inside_.push({now, now, order_++, &hops, 0, index});
}

void Network::move(Nanoseconds now) {
    while (!inside_.empty() && inside_.top().head <= now) {
        const Travel travel = inside_.top();
        inside_.pop();
        cross(travel);
    }
}

void Network::cross(Travel travel) {
    const Hop hop = (*travel.path)[travel.hop];
    const Node& link = nodes_[hop.node];
    Lane& lane = hop.upwards ? lanes_[hop.node].up : lanes_[hop.node].down;
    const Burst& burst = bursts_[travel.burst];
    const Nanoseconds start = std::max(travel.head, lane.free);
    if (start - travel.head > time_of(link.queue_bytes, link)) {
        lane.traffic.dropped_packets += burst.packets;
        bursts_[travel.burst] = {};
        unused_.push_back(travel.burst);
        return;
    }
    lane.traffic.packets += burst.packets;
    lane.traffic.bytes += burst.bytes;
    // The last packet leaves no earlier than it came, however early the first one started.
    const Nanoseconds packet = time_of(burst.packet_bytes, link);
    const Nanoseconds finish = std::max(start + time_of(burst.bytes, link), travel.tail + packet);
    lane.free = finish;
    travel.head = start + packet + link.delay;
    travel.tail = finish + link.delay;
    if (++travel.hop < travel.path->size()) {
        inside_.push(travel);
    } else {
        travel.head = travel.tail;  // handed over when all of it is there
        leaving_.push(travel);
    }
}

std::optional<Arrival> Network::leave(Nanoseconds now) {
    move(now);
    if (leaving_.empty() || leaving_.top().tail > now) return std::nullopt;
    const Travel travel = leaving_.top();
    leaving_.pop();
    Arrival arrival{travel.path->back().node, travel.tail, std::move(bursts_[travel.burst])};
    bursts_[travel.burst] = {};
    unused_.push_back(travel.burst);
    return arrival;
}

std::optional<Nanoseconds> Network::next() const {
    std::optional<Nanoseconds> moment;
    if (!leaving_.empty()) moment = leaving_.top().tail;
    if (!inside_.empty()) {
        // Crossing a link may be reckoned late, for its outcome depends on times alone, but not so late that
        // the burst should have left already.
        const Nanoseconds reckon = inside_.top().head + least_delay_;
        moment = moment ? std::min(*moment, reckon) : reckon;
    }
    return moment;
}

}  // namespace isochrone::lab
