// SPDX-License-Identifier: BSD-3-Clause
#include "record/gather.hpp"

#include <cstddef>
#include <utility>

namespace isochrone::mpi::record {

using comm::check;

void gather(const World& world, const std::function<Words()>& make,
            const std::function<void(std::int64_t)>& room,
            const std::function<void(const std::int64_t*)>& take) {
    constexpr int tag = 0;
    const bool is_first = world.rank == 0;
    Words mine;
    Words lengths;
    prepare_together(world.comm, [&] {
        mine = make();
        if (is_first) lengths.resize(static_cast<std::size_t>(world.size));
    });
    const auto length = static_cast<std::int64_t>(mine.size());
    check(PMPI_Gather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, 0, world.comm), "MPI_Gather");
    Words words;
    prepare_together(world.comm, [&] {
        if (!is_first) return;
        std::int64_t longest = 0;
        std::int64_t all = 0;
        for (const std::int64_t one : lengths) {
            longest = std::max(longest, one);
            all += one;
        }
        words.resize(static_cast<std::size_t>(longest));
        room(all);
    });
    bool is_taken = true;
    if (!is_first) {
        in_parts(length, [&](std::int64_t at, int count) {
            check(PMPI_Send(mine.data() + at, count, MPI_INT64_T, 0, tag, world.comm), "MPI_Send");
        });
    }
    for (int rank = 0; is_first && rank < world.size; ++rank) {
        if (rank != 0) {
            in_parts(lengths[static_cast<std::size_t>(rank)], [&](std::int64_t at, int count) {
                check(PMPI_Recv(words.data() + at, count, MPI_INT64_T, rank, tag, world.comm,
                                MPI_STATUS_IGNORE),
                      "MPI_Recv");
            });
        }
        // The others send all the same.
        if (!is_taken) continue;
        try {
            take(rank == 0 ? mine.data() : words.data());
        } catch (const std::exception&) {
            is_taken = false;
        }
    }
    prepare_together(world.comm, [&] {
        if (!is_taken) throw std::bad_alloc();
    });
}

void share(Words& words, const World& world) {
    auto length = static_cast<std::int64_t>(words.size());
    check(PMPI_Bcast(&length, 1, MPI_INT64_T, 0, world.comm), "MPI_Bcast");
    prepare_together(world.comm, [&] { words.resize(static_cast<std::size_t>(length)); });
    in_parts(length, [&](std::int64_t at, int count) {
        check(PMPI_Bcast(words.data() + at, count, MPI_INT64_T, 0, world.comm), "MPI_Bcast");
    });
}

void Groups::append(Words& words, const std::vector<const std::vector<int>*>& here, int first) {
    const std::size_t count_at = words.size();
    words.push_back(0);
    for (std::size_t number = 0; number < here.size(); ++number) {
        const std::vector<int>& group = *here[number];
        if (first != anyone && group.front() != first) continue;
        ++words[count_at];
        words.push_back(static_cast<std::int64_t>(number));
        words.push_back(static_cast<std::int64_t>(group.size()));
        words.insert(words.end(), group.begin(), group.end());
    }
}

std::vector<std::int64_t> Groups::read(const std::int64_t*& words) {
    std::vector<std::int64_t> number_of;
    for (std::int64_t left = *words++; left > 0; --left) {
        const auto there = static_cast<std::size_t>(*words++);
        const std::int64_t size = *words++;
        std::vector<int> group(words, words + size);
        words += size;
        const auto [found, is_new] =
            numbers_.try_emplace(std::move(group), static_cast<std::int64_t>(ranks.size()));
        if (is_new) ranks.push_back(found->first);
        if (there >= number_of.size()) number_of.resize(there + 1, -1);
        number_of[there] = found->second;
    }
    return number_of;
}

}  // namespace isochrone::mpi::record
