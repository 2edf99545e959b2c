// SPDX-License-Identifier: BSD-3-Clause
#include "probe/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <random>

#include "probe/random.hpp"

namespace isochrone::mpi::probe {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Rounds::Rounds(const std::vector<int>& host_of_rank, std::uint64_t seed)
    : seed_(seed), host_(host_of_rank.size()), position_(host_of_rank.size()) {
    std::map<int, std::size_t> number;
    for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
        const auto [entry, added] = number.try_emplace(host_of_rank[rank], members_.size());
        if (added) members_.emplace_back();
        members_[entry->second].push_back(static_cast<int>(rank));
    }
    std::mt19937_64 random(seed);
    shuffle(members_, random);
    for (std::size_t host = 0; host < members_.size(); ++host) {
        shuffle(members_[host], random);
        for (std::size_t position = 0; position < members_[host].size(); ++position) {
            host_[at(members_[host][position])] = static_cast<int>(host);
            position_[at(members_[host][position])] = static_cast<int>(position);
        }
    }
    sum_.resize(members_.size());
    std::iota(sum_.begin(), sum_.end(), 0);
    shuffle(sum_, random);
    start_.assign(1, 0);
    for (int round = 0; round < host_count(); ++round) {
        std::int64_t longest = 0;
        for (int host = 0; host < host_count(); ++host) {
            longest = std::max(longest, length(meeting(round, host)));
        }
        start_.push_back(start_.back() + longest);
    }
}

std::vector<Turn> Rounds::turns(int rank, std::int64_t first, std::int64_t last) const {
    std::vector<Turn> result;
    const int host = host_[at(rank)];
    const std::int64_t position = position_[at(rank)];
    const auto next = std::upper_bound(start_.begin(), start_.end(), first);
    auto round = static_cast<int>(next - start_.begin()) - 1;
    for (; round < host_count() && start_[at(round)] < last; ++round) {
        const Meeting met = meeting(round, host);
        const std::int64_t begin = std::max<std::int64_t>(first - start_[at(round)], 0);
        const std::int64_t end = std::min(last - start_[at(round)], length(met));
        const std::int64_t columns = ranks_of(met.first);
        const std::int64_t rows = ranks_of(met.second);
        // Turns of a meeting form rows as long as its first host has ranks (see turn()). Of each row, this
        // rank is in the column of its own position, and in those where its position is the other one's.
        for (std::int64_t row = begin / columns; row * columns < end; ++row) {
            std::vector<std::int64_t> mine;
            if (met.first == met.second) {
                const std::int64_t shift = row + 1;
                mine = {position, (position - shift + columns) % columns};
                std::sort(mine.begin(), mine.end());
            } else if (host == met.first) {
                mine = {position};
            } else {
                for (std::int64_t column = (position + rows - row) % rows; column < columns; column += rows) {
                    mine.push_back(column);
                }
            }
            for (const std::int64_t column : mine) {
                const std::int64_t index = row * columns + column;
                if (index >= begin && index < end) result.push_back(turn(met, index));
            }
        }
    }
    return result;
}

std::vector<Turn> Rounds::before(const Turn& turn) const {
    const auto [met, index] = find(turn);
    if (index > 0) return {this->turn(met, index - 1)};
    std::vector<Turn> result;
    for (const int host : hosts_of(met)) {
        for (int round = met.round - 1; round >= 0; --round) {
            const Meeting earlier = meeting(round, host);
            if (length(earlier) == 0) continue;
            result.push_back(this->turn(earlier, length(earlier) - 1));
            break;
        }
    }
    return result;
}

std::vector<Turn> Rounds::after(const Turn& turn) const {
    const auto [met, index] = find(turn);
    if (index + 1 < length(met)) return {this->turn(met, index + 1)};
    std::vector<Turn> result;
    for (const int host : hosts_of(met)) {
        for (int round = met.round + 1; round < host_count(); ++round) {
            const Meeting later = meeting(round, host);
            if (length(later) == 0) continue;
            result.push_back(this->turn(later, 0));
            break;
        }
    }
    return result;
}

Rounds::Meeting Rounds::meeting(int round, int host) const {
    const int other = (sum_[at(round)] - host + host_count()) % host_count();
    return {round, std::min(host, other), std::max(host, other)};
}

std::vector<int> Rounds::hosts_of(const Meeting& meeting) {
    if (meeting.first == meeting.second) return {meeting.first};
    return {meeting.first, meeting.second};
}

std::int64_t Rounds::length(const Meeting& meeting) const {
    const std::int64_t ranks = ranks_of(meeting.first);
    return meeting.first == meeting.second ? ranks * (ranks - 1) / 2 : ranks * ranks_of(meeting.second);
}

/// Row after row of a Latin square: neighbours in time share no rank where that can be, and no rank has its
/// pairs in a row. Row r pairs column c with c + r of the other host, or with c + r + 1 of the same one;
/// there half a row remains at the end where the number of ranks is even.
Turn Rounds::turn(const Meeting& meeting, std::int64_t index) const {
    const std::int64_t columns = ranks_of(meeting.first);
    const std::int64_t row = index / columns;
    const std::int64_t column = index % columns;
    const std::int64_t shift = meeting.first == meeting.second ? row + 1 : row;
    int low = members_[at(meeting.first)][at(column)];
    int high = members_[at(meeting.second)][at((column + shift) % ranks_of(meeting.second))];
    if (low > high) std::swap(low, high);
    const bool first = coin(seed_, low, high);
    return {start_[at(meeting.round)] + index, first ? low : high, first ? high : low};
}

std::pair<Rounds::Meeting, std::int64_t> Rounds::find(const Turn& turn) const {
    const auto next = std::upper_bound(start_.begin(), start_.end(), turn.step);
    const auto round = static_cast<int>(next - start_.begin()) - 1;
    return {meeting(round, host_[at(turn.initiator)]), turn.step - start_[at(round)]};
}

std::int64_t Rounds::ranks_of(int host) const { return static_cast<std::int64_t>(members_[at(host)].size()); }

}  // namespace isochrone::mpi::probe
