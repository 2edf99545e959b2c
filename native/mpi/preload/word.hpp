// SPDX-License-Identifier: BSD-3-Clause
//
// Handles of an MPI library that this code knows only when it is compiled for it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace isochrone::mpi::preload {

/// An MPI handle, or an int in its place, in the width that holds both.
using Word = std::uintptr_t;

/// The handle of this MPI library that a word is: an int in some, a pointer in others.
template <class Handle>
[[nodiscard]] Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(word);  // NOLINT(performance-no-int-to-ptr)
    } else {
        return static_cast<Handle>(word);
    }
}

/// The word of a handle, which is the same whatever a caller left in the upper half of a register.
template <class Handle>
[[nodiscard]] Word word(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Word>(handle);
    } else {
        return static_cast<Word>(static_cast<unsigned>(handle));
    }
}

}  // namespace isochrone::mpi::preload
