// SPDX-License-Identifier: BSD-3-Clause
#include "comm/cpu_list.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <fstream>

namespace isochrone::mpi::comm {

std::string format_cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t first = 0; first < cpus.size();) {
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[first]);
        if (last > first) text += '-' + std::to_string(cpus[last]);
        first = last + 1;
    }
    return text;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text, int most) {
    std::vector<int> cpus;
    const char* next = text.data();
    const char* const end = next + text.size();
    while (next != end) {
        int first = 0;
        auto [after_first, error] = std::from_chars(next, end, first);
        if (error != std::errc{} || first < 0 || first >= most) return std::nullopt;
        int last = first;
        next = after_first;
        if (next != end && *next == '-') {
            auto [after_last, last_error] = std::from_chars(next + 1, end, last);
            if (last_error != std::errc{} || last < first || last >= most) return std::nullopt;
            next = after_last;
        }
        for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
        if (next == end) break;
        if (*next != ',' || ++next == end) return std::nullopt;
    }
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

std::vector<int> allowed_cpus() {
    // The kernel refuses a mask that is shorter than its own, and does not tell how long that is.
    for (std::size_t bits = 1024; bits <= static_cast<std::size_t>(max_cpus); bits *= 2) {
        std::vector<cpu_set_t> mask(bits / CPU_SETSIZE);
        const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, mask.data()) == 0) {
            std::vector<int> cpus;
            for (std::size_t cpu = 0; cpu < bits; ++cpu) {
                if (CPU_ISSET_S(cpu, bytes, mask.data())) cpus.push_back(static_cast<int>(cpu));
            }
            return cpus;
        }
        if (errno != EINVAL) break;
    }
    return {};
}

std::vector<int> online_cpus() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string line;
    if (!std::getline(file, line)) return {};
    return parse_cpu_list(line).value_or(std::vector<int>{});
}

}  // namespace isochrone::mpi::comm
