// SPDX-License-Identifier: BSD-3-Clause
//
// What a call of the program asks for, told from its arguments, and its data given to what runs in its place.
#pragma once

#include <cstdint>
#include <optional>

#include "executor/dispatcher.hpp"
#include "interpose/blocks.hpp"
#include "interpose/call.hpp"
#include "interpose/datatype.hpp"
#include "interpose/operation.hpp"
#include "interpose/self.hpp"

namespace isochrone::mpi::interpose {

/// What a call asks for, as far as all ranks know it alike, and where its data are on this one.
struct Request {
    executor::Dispatcher::Question question;
    bool is_valid = false;     ///< the library would not refuse it
    bool is_possible = false;  ///< ... and it is one that recipes can do
    std::int64_t bytes = 0;
    const Type* type = nullptr;
    bool in_place = false;
    bool is_exact = true;                   ///< what runs makes no difference to the last bit
    std::optional<BlocksCall> blocks = {};  ///< of collectives of blocks
};

/// Reads calls, and knows what it was told of their datatypes and operations. Any thread may ask.
class Requests {
  public:
    /// Local. `reproducible`: reductions run in one order. Throws comm::Error.
    explicit Requests(bool reproducible) : types_(self_), reproducible_(reproducible) {}

    /// Of a call on rank `rank` of `size`. Throws comm::Error.
    [[nodiscard]] Request examine(const Call& call, int rank, int size);

    /// Collective. Runs a decision that is not the library's own. Throws comm::Error.
    void run(executor::Dispatcher& dispatcher, const executor::Dispatcher::Decision& decision,
             const Call& call, const Request& request, int rank);

  private:
    void examine_blocks(const Call& call, int rank, int size, Request& request);
    void examine_operation(const Call& call, MPI_Datatype type, bool is_dense, Request& request);

    Self self_;
    Types types_;
    Operations operations_;
    bool reproducible_;
};

}  // namespace isochrone::mpi::interpose
