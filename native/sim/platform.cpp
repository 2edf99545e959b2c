// SPDX-License-Identifier: BSD-3-Clause
//
// The platform of a simulated cluster, as a shared object that smpirun loads. ISOCHRONE_SIM_PLATFORM names
// the file that describes it.
//
// Each core is a host of SimGrid named NODE.cK. What a pair sees by itself and what it shares with others are
// links of their own. The first is one FATPIPE link (which limits every message separately) with the whole
// latency of the pair, so that no sum of hops has to hit a measured value. The others have capacities and no
// latency, and one link for each direction.
//
//     core a ─▶ [a sends] ─▶ [a to b] ─▶ [group of a, out] ─▶ [group of b, in] ─▶ [b receives] ─▶ core b
//
// Messages from one core to another go one after another, as on a connection; those to several cores share
// what they cross. Left to itself SimGrid would have those of a pair under way together: then the first
// segment of a pipeline would arrive with the last (docs/models.md, what the predictor leaves out).
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "description.hpp"

namespace isochrone::sim {

namespace {

namespace s4u = simgrid::s4u;
using Links = std::vector<s4u::LinkInRoute>;

/// One shared resource, used in two directions that do not disturb each other.
struct Duplex {
    s4u::Link* out = nullptr;
    s4u::Link* in = nullptr;
};

s4u::Link* shared_link(s4u::NetZone* zone, const std::string& name, double capacity_bytes_per_s) {
    s4u::Link* link = zone->create_link(name, capacity_bytes_per_s);
    link->set_latency(0.0);
    link->seal();
    return link;
}

/// What one pair sees by itself, in one direction, one message after another.
s4u::Link* pair_link(s4u::NetZone* zone, const std::string& name, const Pair& pair) {
    s4u::Link* link = zone->create_link(name, pair.bandwidth_bytes_per_s);
    link->set_latency(pair.latency_s);
    link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    link->set_concurrency_limit(1);
    link->seal();
    return link;
}

Duplex duplex(s4u::NetZone* zone, const std::string& name, double capacity_bytes_per_s) {
    return {shared_link(zone, name + ".out", capacity_bytes_per_s),
            shared_link(zone, name + ".in", capacity_bytes_per_s)};
}

struct Core {
    s4u::Host* host = nullptr;
    Duplex link;
};

/// The way from one core to another; `between` is what they share with others.
void add_route(s4u::NetZone* zone, const Core& from, const Core& to, const Pair& pair, const Links& between) {
    const std::string name = from.host->get_name() + "-" + to.host->get_name();
    Links links{s4u::LinkInRoute(from.link.out), s4u::LinkInRoute(pair_link(zone, name, pair))};
    links.insert(links.end(), between.begin(), between.end());
    links.emplace_back(to.link.in);
    zone->add_route(from.host->get_netpoint(), to.host->get_netpoint(), nullptr, nullptr, links, false);
}

/// A node: its cores, the links between them, and its network card.
class Node {
  public:
    Node(const Description& description, std::size_t number, s4u::NetZone* zone)
        : groups_(groups_of(description, number)), name_(description.nodes[number]), zone_(zone) {
        add_cores(description.core_capacity_bytes_per_s);
        add_group_links();
        for (std::size_t from = 0; from < cores_.size(); ++from) add_routes_from(from);
        nic_ = duplex(zone_, name_ + ".nic", description.nic_capacity_bytes_per_s);
    }

    [[nodiscard]] const std::vector<Core>& cores() const { return cores_; }
    [[nodiscard]] const Duplex& nic() const { return nic_; }

  private:
    static const std::vector<CoreGroups>& groups_of(const Description& description, std::size_t number) {
        const auto slow = description.slow_nodes.find(number);
        return slow == description.slow_nodes.end() ? description.core_groups : slow->second;
    }

    void add_cores(double capacity_bytes_per_s) {
        for (std::size_t core = 0; core < groups_.back().cores; ++core) {
            const std::string name = name_ + ".c" + std::to_string(core);
            constexpr double unused_flops = 1e9;  // computation is not simulated
            s4u::Host* host = zone_->create_host(name, unused_flops);
            host->seal();
            cores_.push_back({host, duplex(zone_, name, capacity_bytes_per_s)});
        }
    }

    void add_group_links() {
        for (std::size_t level = 0; level + 1 < groups_.size(); ++level) {
            group_links_.emplace_back();
            if (!groups_[level + 1].capacity_bytes_per_s) continue;
            for (std::size_t group = 0; group < cores_.size() / groups_[level].cores; ++group) {
                const std::string name = name_ + ".g" + std::to_string(level) + "." + std::to_string(group);
                group_links_[level].push_back(duplex(zone_, name, *groups_[level + 1].capacity_bytes_per_s));
            }
        }
    }

    [[nodiscard]] std::size_t level_where_meet(std::size_t a, std::size_t b) const {
        std::size_t level = 0;
        while (a / groups_[level].cores != b / groups_[level].cores) ++level;
        return level;
    }

    void add_routes_from(std::size_t from) {
        for (std::size_t to = 0; to < cores_.size(); ++to) {
            if (to == from) continue;
            const std::size_t meeting = level_where_meet(from, to);
            Links between;
            for (std::size_t level = 0; level < meeting; ++level) {
                if (group_links_[level].empty()) continue;
                between.emplace_back(group_links_[level][from / groups_[level].cores].out);
                between.emplace_back(group_links_[level][to / groups_[level].cores].in);
            }
            add_route(zone_, cores_[from], cores_[to], groups_[meeting].pair, between);
        }
    }

    const std::vector<CoreGroups>& groups_;
    std::string name_;
    s4u::NetZone* zone_;
    std::vector<Core> cores_;
    std::vector<std::vector<Duplex>> group_links_;
    Duplex nic_;
};

void add_network(const Description& description, const std::vector<Node>& nodes, s4u::NetZone* zone) {
    std::vector<s4u::Link*> shared;
    for (const double capacity_bytes_per_s : description.shared_link_capacity_bytes_per_s)
        shared.push_back(shared_link(zone, "shared" + std::to_string(shared.size()), capacity_bytes_per_s));
    for (const Route& route : description.routes) {
        Links between{s4u::LinkInRoute(nodes[route.from].nic().out)};
        for (const std::size_t link : route.shared_links) between.emplace_back(shared[link]);
        between.emplace_back(nodes[route.to].nic().in);
        for (const Core& from : nodes[route.from].cores()) {
            for (const Core& to : nodes[route.to].cores())
                add_route(zone, from, to, description.pairs[route.pair], between);
        }
    }
}

/// SimGrid can only scale the latency, so the factor for it is chosen such that the whole time of the message
/// is scaled. No message is quicker than its bytes need: of a large one, noise shows only as delay.
void add_noise(const Noise& noise, s4u::NetZone* cluster) {
    auto generator = std::make_shared<std::mt19937_64>(noise.seed);
    auto exponent = std::make_shared<std::normal_distribution<double>>(0.0, noise.sigma);
    cluster->get_network_model()->set_lat_factor_cb([generator, exponent, overhead_s = noise.overhead_s](
                                                        double size_bytes, const s4u::Host*, const s4u::Host*,
                                                        const std::vector<s4u::Link*>& links,
                                                        const std::unordered_set<s4u::NetZone*>&) {
        double latency_s = 0;
        double seconds_per_byte = 0;
        for (const s4u::Link* link : links) {
            latency_s += link->get_latency();
            seconds_per_byte = std::max(seconds_per_byte, 1 / link->get_bandwidth());
        }
        const double factor = std::exp((*exponent)(*generator));
        if (!(latency_s > 0)) return 1.0;
        const double message_s = overhead_s + latency_s + size_bytes * seconds_per_byte;
        return std::max(0.0, 1 + (factor - 1) * message_s / latency_s);
    });
}

/// SimGrid's exit code stays 0 when ranks end by MPI_Abort or wait forever, so every rank that ends otherwise
/// than by returning from main makes it 1.
void fail_if_any_rank_fails() {
    auto any_failed = std::make_shared<bool>(false);
    s4u::Actor::on_creation_cb([any_failed](const s4u::Actor& rank) {
        rank.on_exit([any_failed](bool failed) { *any_failed |= failed; });
    });
    s4u::Engine::on_simulation_end_cb([any_failed] {
        if (!*any_failed) return;
        std::fflush(nullptr);
        std::_Exit(1);
    });
}

void build(const Description& description) {
    s4u::NetZone* cluster = s4u::create_full_zone("cluster");
    std::vector<Node> nodes;
    nodes.reserve(description.nodes.size());
    for (std::size_t number = 0; number < description.nodes.size(); ++number)
        nodes.emplace_back(description, number, cluster);
    add_network(description, nodes, cluster);
    if (description.noise.sigma > 0) add_noise(description.noise, cluster);
    cluster->seal();
}

}  // namespace

}  // namespace isochrone::sim

/// SimGrid's entry point. Nothing may be thrown into SimGrid: one line on stderr, and the end of the
/// simulator.
extern "C" void load_platform(const simgrid::s4u::Engine&);
void load_platform(const simgrid::s4u::Engine&) {
    try {
        const char* path = std::getenv("ISOCHRONE_SIM_PLATFORM");
        if (path == nullptr) throw std::runtime_error("ISOCHRONE_SIM_PLATFORM is not set");
        isochrone::sim::build(isochrone::sim::read_description(path));
        isochrone::sim::fail_if_any_rank_fails();
    } catch (const std::exception& error) {
        std::cerr << "isochrone: the simulated cluster cannot be built: " << error.what() << std::endl;
        std::exit(1);
    }
}
