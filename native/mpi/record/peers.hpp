// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks of the world a rank of a communicator, or of a window, is.
//
// They are asked once for each, and found by handle afterwards without a call to MPI. An attribute of the
// communicator says when it is gone: from then on its handle may be another's.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "preload/word.hpp"

namespace isochrone::mpi::record {

using preload::Word;

struct Peers {
    int rank = 0;             ///< of this process among them
    bool is_inter = false;    ///< a communicator between two groups: the ranks are those of the other one
    std::vector<int> world;   ///< rank of each in MPI_COMM_WORLD; MPI_UNDEFINED for those of other worlds
    bool has_others = false;  ///< whether there are any of other worlds
    int group = -1;           ///< number of its ranks among all groups; -1: not asked for yet
    /// To whom neighbourhood collectives send, in their order; not asked for yet, or MPI_PROC_NULL for none.
    std::optional<std::vector<int>> neighbours;
};

class PeersOf {
  public:
    /// Local. Throws comm::Error.
    PeersOf();
    ~PeersOf();
    PeersOf(const PeersOf&) = delete;
    PeersOf& operator=(const PeersOf&) = delete;

    /// Any thread may ask, of a communicator that is not being freed. Throws comm::Error and std::bad_alloc.
    Peers& communicator(Word comm);
    Peers& window(Word window);
    /// The neighbours of this rank by the topology of a communicator.
    const std::vector<int>& neighbours(Word comm);

    /// The number of these ranks among all groups that were asked for, from 0. Any thread may ask.
    int group_of(Peers& peers);
    /// These two once nobody asks for more. The number of ranks of the world, if it was asked for;
    [[nodiscard]] std::optional<int> known_group(const std::vector<int>& world) const;
    /// and the ranks of each number.
    [[nodiscard]] std::vector<const std::vector<int>*> groups() const;

  private:
    using Known = std::unordered_map<Word, std::unique_ptr<Peers>>;
    struct Last {
        std::uint64_t epoch = 0;
        Word word = 0;
        Peers* peers = nullptr;
    };

    template <class Make>
    Peers& find(Last& last, Known& known, Word word, Make&& make);
    std::unique_ptr<Peers> of_group(MPI_Group group) const;
    static int forget_communicator(MPI_Comm comm, int key, void* value, void* self);
    static int forget_window(MPI_Win window, int key, void* value, void* self);
    void forget(Known& known, Word word);

    MPI_Group world_ = MPI_GROUP_NULL;
    int comm_key_ = MPI_KEYVAL_INVALID;
    int window_key_ = MPI_KEYVAL_INVALID;
    /// Held by who asks MPI. Never taken by what MPI calls, which may hold locks of the library.
    std::mutex asking_;
    std::mutex mutex_;  // guards what follows; MPI is not called with it
    Known communicators_;
    Known windows_;
    std::map<std::vector<int>, int> groups_;

    __attribute__((tls_model("initial-exec"))) static thread_local constinit Last last_communicator_;
    __attribute__((tls_model("initial-exec"))) static thread_local constinit Last last_window_;
};

}  // namespace isochrone::mpi::record
