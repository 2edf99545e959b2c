// SPDX-License-Identifier: BSD-3-Clause
#include "comm/hardware.hpp"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "comm/cpu_list.hpp"

namespace isochrone::mpi::comm {

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string squeeze_spaces(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!space) {
            result += c;
        } else if (!result.empty() && result.back() != ' ') {
            result += ' ';
        }
    }
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return result;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with("model name") && !line.starts_with("cpu model")) continue;
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos) return squeeze_spaces(line.substr(colon + 1));
    }
    // Not every architecture names its model (arm64 does not): the machine type says less, but says it
    // everywhere.
    return squeeze_spaces(first_line("/proc/sys/kernel/arch"));
}

std::string shape(const std::vector<int>& cpus) {
    std::set<std::string> packages;
    std::set<std::pair<std::string, std::string>> cores;
    std::set<std::string> last_level_caches;
    std::size_t threads = 0;
    for (const int cpu : cpus) {
        const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
        const std::string package = first_line(folder + "/topology/physical_package_id");
        // core_id alone repeats on machines with several dies in a package; the list of siblings never does.
        const std::string core = first_line(folder + "/topology/thread_siblings_list");
        if (package.empty() || core.empty()) return {};
        ++threads;
        packages.insert(package);
        cores.emplace(package, core);
        const std::string cache = first_line(folder + "/cache/index3/shared_cpu_list");
        if (!cache.empty()) last_level_caches.insert(cache);
    }
    if (threads == 0) return {};
    std::string text;
    if (cores.size() % packages.size() == 0 && threads % cores.size() == 0) {
        text = std::to_string(packages.size()) + 'x' + std::to_string(cores.size() / packages.size()) + 'x' +
               std::to_string(threads / cores.size());
    } else {
        text = std::to_string(packages.size()) + "p " + std::to_string(cores.size()) + "c " +
               std::to_string(threads) + 't';
    }
    if (!last_level_caches.empty()) text += " l3=" + std::to_string(last_level_caches.size());
    return text;
}

/// A number at the beginning of a file, such as of the first CPU in a list; -1: there is none.
int first_number(const std::string& path) {
    const std::string line = first_line(path);
    int value = -1;
    std::from_chars(line.data(), line.data() + line.size(), value);
    return value;
}

/// The NUMA node of a CPU: its folder has a link of that name.
int numa_node(const std::string& folder) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename();
        int value = -1;
        if (!name.starts_with("node")) continue;
        const auto [rest, code] = std::from_chars(name.data() + 4, name.data() + name.size(), value);
        if (code == std::errc{} && rest == name.data() + name.size()) return value;
    }
    return -1;
}

}  // namespace

std::array<int, 3> hardware_groups(const std::vector<int>& cpus) {
    std::array<int, 3> result{-1, -1, -1};
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpus[i]);
        const std::array<int, 3> here{first_number(folder + "/topology/physical_package_id"),
                                      numa_node(folder),
                                      first_number(folder + "/cache/index3/shared_cpu_list")};
        for (std::size_t level = 0; level < here.size(); ++level) {
            if (i == 0) result[level] = here[level];
            if (here[level] != result[level]) result[level] = -1;  // and stays so: no other is -1
        }
    }
    return result;
}

std::string hardware_signature() {
    std::string signature = shape(online_cpus());
    const std::string model = cpu_model();
    if (!signature.empty() && !model.empty()) signature += ' ';
    signature += model;
    return signature.empty() ? "unknown" : signature;
}

}  // namespace isochrone::mpi::comm
