// SPDX-License-Identifier: BSD-3-Clause
//
// What preloads are told through variables of the environment, and files that these name.
#pragma once

#include <string>

namespace isochrone::mpi::preload {

/// The value; empty where the variable is not set.
[[nodiscard]] std::string variable(const char* name);

/// Whether a variable is set, and not to "0".
[[nodiscard]] bool is_on(const char* name);

/// Whether ISOCHRONE is "off" or "0": then a preload does nothing on this rank. Such a rank is to the others
/// like one without it.
[[nodiscard]] bool is_turned_off();

/// The text of a file in a folder: a pipe may never end, and neither does a device. Where it cannot be had
/// the text is empty, and `complaint` says why in one line, unless it says something already.
[[nodiscard]] std::string read_file(const std::string& path, std::string& complaint);

}  // namespace isochrone::mpi::preload
