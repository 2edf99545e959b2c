// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "interpose/call.hpp"

namespace isochrone::mpi::interpose {

/// The handle of this MPI library that a word is: an int in some, a pointer in others.
template <class Handle>
[[nodiscard]] Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(word);  // NOLINT(performance-no-int-to-ptr)
    } else {
        return static_cast<Handle>(word);
    }
}

}  // namespace isochrone::mpi::interpose
