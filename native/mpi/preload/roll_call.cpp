// SPDX-License-Identifier: BSD-3-Clause
#include "preload/roll_call.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include "comm/check.hpp"
#include "comm/wait.hpp"
#include "executor/tags.hpp"

namespace isochrone::mpi::preload {

using comm::check;

namespace {

/// How long rank 0 waits for the others.
constexpr double patience_s = 5;
/// How long the others wait for its first word: longer than it may wait itself.
constexpr double patience_with_rank_0_s = 15;
constexpr double without_limit_s = std::numeric_limits<double>::infinity();

/// "Stay", and "I stay".
constexpr char word = 's';

bool is_done(MPI_Request& request) {
    int done = 0;
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

/// What a rank has under way, and where it comes to.
struct UnderWay {
    std::vector<MPI_Request> receives;
    std::vector<std::vector<char>> buffers;  ///< of the receives and of what is sent

    /// From a rank, into a buffer of its own.
    void receive(int rank, std::size_t longest, int tag) {
        buffers.emplace_back(longest);
        receives.push_back(MPI_REQUEST_NULL);
        check(PMPI_Irecv(buffers.back().data(), static_cast<int>(longest), MPI_CHAR, rank, tag,
                         MPI_COMM_WORLD, &receives.back()),
              "MPI_Irecv");
    }
};

/// MPI ends: attributes of MPI_COMM_SELF go before all else. The buffers stay: what was sent may be read
/// until somebody receives it.
int take_back(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) {
    for (MPI_Request& receive : static_cast<UnderWay*>(value)->receives) {
        if (receive == MPI_REQUEST_NULL) continue;
        PMPI_Cancel(&receive);
        PMPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

/// Leaves what is under way open until MPI ends.
void leave(std::unique_ptr<UnderWay> left) {
    int key = MPI_KEYVAL_INVALID;
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, take_back, &key, nullptr), "MPI_Comm_create_keyval");
    check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, left.release()), "MPI_Comm_set_attr");
    check(PMPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

void say_who_is_waited_for(const std::vector<int>& ranks, int size) {
    std::fprintf(stderr, "isochrone: %s not called isochrone_open, which is collective: waiting\n",
                 ranks_have(ranks, size).c_str());
}

/// Rank 0's part.
class Chair {
  public:
    Chair(int size, int tag) : size_(size), tag_(tag) {
        for (int rank = 1; rank < size; ++rank) under_way_->receive(rank, longest_said, tag);
        for (int rank = 1; rank < size; ++rank) under_way_->receive(rank, sizeof word, tag);
    }

    const Roll& hear(Occasion occasion, std::string_view about) {
        roll_.said.resize(static_cast<std::size_t>(size_));
        roll_.said.front() = about;
        if (!comm::look_until([this] { return welcome(); }, patience_s) && occasion == Occasion::opening) {
            say_who_is_waited_for(absent(), size_);
            comm::look_until([this] { return welcome(); }, without_limit_s);
        }
        roll_.absent = absent();
        comm::look_until([this] { return all_stay(); },
                         occasion == Occasion::opening ? without_limit_s : patience_s);
        for (int rank = 1; rank < size_; ++rank) {
            if (has_come(rank) && staying(rank) != MPI_REQUEST_NULL) roll_.gone.push_back(rank);
        }
        return roll_;
    }

    /// To those that have come. Who has given up has a receive open all the same, and whose word has not come
    /// yet may wait for this.
    void answer(std::int64_t decision) {
        for (int rank = 1; rank < size_; ++rank) {
            if (has_come(rank)) send(&decision, sizeof decision, rank);
        }
        check(PMPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
        const auto is_open = [](MPI_Request receive) { return receive != MPI_REQUEST_NULL; };
        if (std::any_of(under_way_->receives.begin(), under_way_->receives.end(), is_open))
            leave(std::move(under_way_));
    }

  private:
    /// Tells who has come since to stay; says whether all have come.
    bool welcome() {
        std::vector<int> which(static_cast<std::size_t>(size_ - 1));
        std::vector<MPI_Status> statuses(which.size());
        int count = 0;
        check(PMPI_Testsome(size_ - 1, under_way_->receives.data(), &count, which.data(), statuses.data()),
              "MPI_Testsome");
        for (std::size_t i = 0; count != MPI_UNDEFINED && i < static_cast<std::size_t>(count); ++i) {
            const auto other = static_cast<std::size_t>(which[i]);
            int length = 0;
            check(PMPI_Get_count(&statuses[i], MPI_CHAR, &length), "MPI_Get_count");
            roll_.said[other + 1].assign(under_way_->buffers[other].data(), static_cast<std::size_t>(length));
            send(&word, sizeof word, which[i] + 1);
        }
        return absent().empty();
    }

    void send(const void* data, std::size_t size, int rank) {
        sends_.push_back(MPI_REQUEST_NULL);
        check(PMPI_Isend(data, static_cast<int>(size), MPI_CHAR, rank, tag_, MPI_COMM_WORLD, &sends_.back()),
              "MPI_Isend");
    }

    /// Says whether all that have come have said that they stay.
    bool all_stay() {
        bool all = true;
        for (int rank = 1; rank < size_; ++rank) {
            if (has_come(rank)) all = is_done(staying(rank)) && all;
        }
        return all;
    }

    [[nodiscard]] bool has_come(int rank) const {
        return !roll_.said[static_cast<std::size_t>(rank)].empty();
    }
    MPI_Request& staying(int rank) {
        return under_way_->receives[static_cast<std::size_t>(size_ - 1 + rank - 1)];
    }

    [[nodiscard]] std::vector<int> absent() const {
        std::vector<int> ranks;
        for (int rank = 1; rank < size_; ++rank) {
            if (!has_come(rank)) ranks.push_back(rank);
        }
        return ranks;
    }

    int size_;
    int tag_;
    std::unique_ptr<UnderWay> under_way_ = std::make_unique<UnderWay>();
    std::vector<MPI_Request> sends_;
    Roll roll_;
};

std::int64_t preside(Occasion occasion, std::string_view about, int size, int tag, const Decide& decide) {
    Chair chair(size, tag);
    const Roll& roll = chair.hear(occasion, about);
    std::int64_t decision = 0;
    try {
        decision = decide(roll);
    } catch (...) {
        chair.answer(0);
        throw;
    }
    if (!roll.is_complete()) decision = 0;
    chair.answer(decision);
    return decision;
}

std::optional<std::int64_t> ask_rank_0(Occasion occasion, std::string_view about, int rank, int size,
                                       int tag) {
    auto under_way = std::make_unique<UnderWay>();
    under_way->receive(0, sizeof word, tag);
    under_way->receive(0, sizeof(std::int64_t), tag);
    MPI_Request& stay = under_way->receives[0];
    MPI_Request& decided = under_way->receives[1];
    const auto& said = under_way->buffers.emplace_back(about.begin(), about.end());
    MPI_Request send = MPI_REQUEST_NULL;
    check(PMPI_Isend(said.data(), static_cast<int>(said.size()), MPI_CHAR, 0, tag, MPI_COMM_WORLD, &send),
          "MPI_Isend");
    const auto is_to_stay = [&] { return is_done(stay); };
    if (!comm::look_until(is_to_stay, patience_with_rank_0_s)) {
        if (occasion != Occasion::opening) {
            check(PMPI_Request_free(&send), "MPI_Request_free");
            leave(std::move(under_way));
            return std::nullopt;
        }
        if (rank == 1) say_who_is_waited_for({0}, size);
        comm::look_until(is_to_stay, without_limit_s);
    }
    check(PMPI_Send(&word, sizeof word, MPI_CHAR, 0, tag, MPI_COMM_WORLD), "MPI_Send");
    comm::look_until([&] { return is_done(decided); }, without_limit_s);
    check(PMPI_Wait(&send, MPI_STATUS_IGNORE), "MPI_Wait");
    std::int64_t decision = 0;
    std::copy_n(under_way->buffers[1].data(), sizeof decision, reinterpret_cast<char*>(&decision));
    return decision;
}

}  // namespace

std::optional<std::int64_t> call_the_roll(Occasion occasion, std::string_view about, const Decide& decide) {
    const int rank = comm::rank_in(MPI_COMM_WORLD);
    const int size = comm::size_of(MPI_COMM_WORLD);
    const int tag = executor::largest_tag() - static_cast<int>(occasion);
    if (rank == 0) return preside(occasion, about, size, tag, decide);
    return ask_rank_0(occasion, about, rank, size, tag);
}

bool everyone_is_here(Occasion occasion) {
    return call_the_roll(occasion, "here", [](const Roll&) { return 1; }).value_or(0) != 0;
}

std::string ranks_have(const std::vector<int>& ranks, int size) {
    constexpr std::size_t most = 4;
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size() && i < most; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    }
    if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
    return text + " of " + std::to_string(size) + (ranks.size() == 1 ? " has" : " have");
}

}  // namespace isochrone::mpi::preload
