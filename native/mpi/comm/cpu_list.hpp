// SPDX-License-Identifier: BSD-3-Clause
//
// Sets of CPUs and their text form, the kernel's list format: "0-3,8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone::mpi::comm {

/// No machine has more; a larger number in a list is an error in it.
inline constexpr int max_cpus = 1 << 16;

/// The text of an ascending list of CPUs.
[[nodiscard]] std::string format_cpu_list(const std::vector<int>& cpus);

/// The CPUs of a list, ascending and each once; nothing if the text is not a list of numbers below `most`.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text, int most = max_cpus);

/// The CPUs on which the calling thread may run, ascending; empty where the system does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// The CPUs of this host that are switched on, ascending; empty where the system does not say.
[[nodiscard]] std::vector<int> online_cpus();

}  // namespace isochrone::mpi::comm
