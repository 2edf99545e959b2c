// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/network.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace isochrone::core::simulate {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Seconds that a pair needs for each further byte; 0 where the curve does not tell.
double slope(const plogp::Parameters& links) {
    const auto& points = links.gap_s.points;
    if (points.size() < 2) return 0;
    const plogp::Rendezvous rendezvous(links);
    const std::int64_t first_bytes = points.front().first;
    const std::int64_t last_bytes = points.back().first;
    return std::max(0.0, (rendezvous.busy_s(last_bytes) - rendezvous.busy_s(first_bytes)) /
                             static_cast<double>(last_bytes - first_bytes));
}

}  // namespace

std::vector<double> way_s_per_byte(const place::Layout& layout) {
    const int node = layout.level("node");
    std::vector<double> found(layout.levels.size(), 0.0);
    for (int level = 1; level < static_cast<int>(found.size()); ++level) {
        const plogp::Parameters& links = layout.links[at(level - 1)];
        if (links.capacity_bytes_per_s > 0) {
            found[at(level)] = 1 / links.capacity_bytes_per_s;
        } else if (level <= node) {
            found[at(level)] = slope(links);
        }
    }
    return found;
}

Network::Network(const place::Layout& layout) : layout_(layout) {
    for (const plogp::Parameters& links : layout.links) {
        rendezvous_.emplace_back(links);
        fixed_s_.push_back(rendezvous_.back().busy_s(0));
    }
    for (int rank = 0; rank < layout.size; ++rank) {
        for (int side = 0; side < 2; ++side) {
            ways_.emplace_back().fixed_flow = static_cast<int>(flows_.size());
            flows_.emplace_back();
        }
    }
    way_of_.resize(layout.levels.size());
    const std::vector<double> s_per_byte = way_s_per_byte(layout);
    for (int level = 1; level < static_cast<int>(layout.levels.size()); ++level) {
        if (s_per_byte[at(level)] <= 0) continue;
        std::map<int, int> way_of_group;
        for (const int group : layout.group_of[at(level)]) {
            const auto [entry, is_new] = way_of_group.try_emplace(group, static_cast<int>(ways_.size()));
            for (int side = 0; is_new && side < 2; ++side) {
                Way& way = ways_.emplace_back();
                way.level = level - 1;
                way.s_per_byte = s_per_byte[at(level)];
                way.measured = layout.links[at(level - 1)].capacity_bytes_per_s > 0;
            }
            way_of_[at(level)].push_back(entry->second);
        }
    }
}

int Network::channel(int from, int to) {
    Channel channel{.from = from,
                    .to = to,
                    .level = layout_.meet(from, to),
                    .ways_out = {},
                    .ways_in = {},
                    .queue = {},
                    .early = {}};
    if (channel.level < 0) {
        throw std::invalid_argument("ranks " + std::to_string(from) + " and " + std::to_string(to) +
                                    " meet at no level of the topology");
    }
    for (int level = channel.level + 1; level < static_cast<int>(way_of_.size()); ++level) {
        if (way_of_[at(level)].empty()) continue;
        channel.ways_out.insert(channel.ways_out.begin(), way_of_[at(level)][at(from)]);
        channel.ways_in.push_back(way_of_[at(level)][at(to)] + 1);
    }
    channel.ways_out.insert(channel.ways_out.begin(), 2 * from);
    channel.ways_in.push_back(2 * to + 1);
    channel.first_flow = static_cast<int>(flows_.size());
    flows_.resize(flows_.size() + channel.ways_out.size() + channel.ways_in.size());
    channels_.push_back(std::move(channel));
    return static_cast<int>(channels_.size()) - 1;
}

const plogp::Parameters& Network::links(int channel) const { return layout_.links[at(level(channel))]; }

const plogp::Rendezvous& Network::rendezvous(int channel) const { return rendezvous_[at(level(channel))]; }

bool Network::next(News& news) {
    if (told_ == news_.size()) {
        news_.clear();
        told_ = 0;
        return false;
    }
    news = news_[told_++];
    return true;
}

void Network::send(int channel, std::int64_t size_bytes, double now_s, double at_s, int message) {
    Channel& its = channels_[at(channel)];
    const int transit = transits_.keep({.channel = channel,
                                        .message = message,
                                        .number = its.sent++,
                                        .size_bytes = size_bytes,
                                        .ways_out_left = static_cast<int>(its.ways_out.size()),
                                        .ways_in_left = static_cast<int>(its.ways_in.size())});
    its.ready_s = std::max(its.ready_s, at_s + rendezvous(channel).asking_s(size_bytes));
    if (its.ready_s <= now_s) {
        ready(transit, now_s);
    } else {
        agenda_.foresee(its.ready_s, {Happening::Kind::ready, transit});
    }
}

void Network::step() {
    Happening happening;
    if (!agenda_.next(happening)) return;
    const double now_s = agenda_.now_s();
    switch (happening.kind) {
        case Happening::Kind::ready:
            ready(happening.subject, now_s);
            break;
        case Happening::Kind::arrive:
            arrive(happening.subject, now_s);
            break;
        case Happening::Kind::serve:
            serve(happening.subject, now_s);
            break;
        case Happening::Kind::come:
            come(happening.subject);
            break;
    }
}

bool Network::take(Queue& queue, int transit) {
    if (!std::exchange(queue.is_taken, true)) return true;
    (queue.first < 0 ? queue.first : transits_[queue.last].next) = transit;
    queue.last = transit;
    return false;
}

int Network::release(Queue& queue) {
    const int transit = queue.first;
    queue.is_taken = transit >= 0;
    if (transit >= 0) queue.first = std::exchange(transits_[transit].next, -1);
    return transit;
}

void Network::ready(int transit, double now_s) {
    if (take(channel_of(transit).queue, transit)) begin(transit, now_s);
}

void Network::begin(int transit, double now_s) {
    const Channel& channel = channel_of(transit);
    if (fixed_s_[at(channel.level)] <= 0 || take(ways_[at(channel.ways_out[0])].queue, transit))
        depart(transit, now_s);
}

void Network::depart(int transit, double now_s) {
    transits_[transit].began_s = now_s;
    const Channel& channel = channel_of(transit);
    agenda_.foresee(now_s + layout_.links[at(channel.level)].latency_s, {Happening::Kind::arrive, transit});
    int flow = channel.first_flow;
    for (const int way : channel.ways_out) enter(way, flow++, transit, now_s);
}

void Network::arrive(int transit, double now_s) {
    const Channel& channel = channel_of(transit);
    int flow = channel.first_flow + static_cast<int>(channel.ways_out.size());
    for (const int way : channel.ways_in) enter(way, flow++, transit, now_s);
}

void Network::enter(int index, int flow, int transit, double now_s) {
    const Way& way = ways_[at(index)];
    const double fixed_s = way.level < 0 ? fixed_s_[at(channel_of(transit).level)] : 0;
    if (fixed_s > 0) {
        add(index, {transit, way.fixed_flow}, fixed_s, now_s);
    } else {
        add(index, {transit, flow}, occupied_s(way, transits_[transit]), now_s);
    }
}

void Network::add(int index, Sharing::Job job, double work_s, double now_s) {
    Sharing::Flow& flow = flows_[at(job.flow)];
    if (work_s <= 0 && flow.jobs == 0) {
        through(index, job.name, now_s);
        return;
    }
    ways_[at(index)].sharing.add(job, flow, work_s, now_s);
    foresee(index);
}

void Network::foresee(int index) {
    Way& way = ways_[at(index)];
    const double next_s = way.sharing.next_s();
    if (next_s >= way.foreseen_s) return;  // it is looked at then
    way.foreseen_s = next_s;
    agenda_.foresee(next_s, {Happening::Kind::serve, index});
}

void Network::serve(int index, double now_s) {
    Way& way = ways_[at(index)];
    if (way.foreseen_s != now_s) return;  // foreseen for later, before something sooner came
    way.foreseen_s = std::numeric_limits<double>::infinity();
    for (Sharing::Job job; way.sharing.take(now_s, flows_, job);) {
        if (job.flow != way.fixed_flow) {
            through(index, job.name, now_s);
            continue;
        }
        const Channel& channel = channel_of(job.name);
        const auto ways = static_cast<int>(channel.ways_out.size() + channel.ways_in.size());
        const int flow = channel.first_flow + (is_out(index) ? 0 : ways - 1);
        const double work_s = occupied_s(way, transits_[job.name]) - fixed_s_[at(channel.level)];
        add(index, {job.name, flow}, work_s, now_s);
        if (!is_out(index)) continue;
        if (const int next = release(way.queue); next >= 0) depart(next, now_s);
    }
    foresee(index);
}

void Network::through(int index, int transit, double now_s) {
    Transit& its = transits_[transit];
    if (!is_out(index)) {
        if (--its.ways_in_left == 0 && its.ways_out_left == 0) foresee_coming(transit, now_s);
        return;
    }
    if (--its.ways_out_left == 0) {
        its.drained_s = now_s;
        news_.push_back({News::Kind::left, its.message, its.began_s});
        if (its.ways_in_left == 0) foresee_coming(transit, now_s);
    }
    if (ways_[at(index)].level >= 0) return;
    if (const int next = release(channel_of(transit).queue); next >= 0) begin(next, now_s);
}

void Network::foresee_coming(int transit, double now_s) {
    Channel& channel = channel_of(transit);
    const double at_s = transits_[transit].drained_s + layout_.links[at(channel.level)].latency_s;
    ++channel.due;
    if (at_s <= now_s && channel.due == 1) {
        come(transit);
    } else {
        agenda_.foresee(std::max(at_s, now_s), {Happening::Kind::come, transit});
    }
}

void Network::come(int transit) {
    Channel& channel = channel_of(transit);
    --channel.due;
    channel.early.push_back(transit);
    const auto is_next = [&](int one) { return transits_[one].number == channel.came; };
    for (auto next = channel.early.begin();
         (next = std::find_if(channel.early.begin(), channel.early.end(), is_next)) != channel.early.end();) {
        news_.push_back({News::Kind::came, transits_[*next].message, transits_[*next].began_s});
        transits_.release(*next);
        channel.early.erase(next);
        ++channel.came;
    }
}

double Network::occupied_s(const Way& way, const Transit& transit) const {
    const int level = way.level < 0 ? channels_[at(transit.channel)].level : way.level;
    const double busy_s = rendezvous_[at(level)].busy_s(transit.size_bytes);
    if (way.level < 0) return busy_s;
    const double time_s = static_cast<double>(transit.size_bytes) * way.s_per_byte;
    return way.measured ? time_s : std::min(time_s, busy_s);
}

}  // namespace isochrone::core::simulate
