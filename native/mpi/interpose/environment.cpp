// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/environment.hpp"

#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "comm/library.hpp"

namespace isochrone::mpi::interpose {
namespace {

/// Named by the program; empty: the environment tells.
std::string plan_file;
std::string topology_file;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_on(const char* name) {
    const std::string value = variable(name);
    return !value.empty() && value != "0";
}

std::string or_else(const std::string& named, const char* name) {
    return named.empty() ? variable(name) : named;
}

/// A plan or a topology. Only what is a file in a folder: a pipe may never end, and neither does a device.
std::string read_file(const std::string& path, std::string& complaint) {
    constexpr off_t largest = off_t{1} << 28;
    const auto refuse = [&](const std::string& why) {
        if (complaint.empty()) complaint = (path.empty() ? "ISOCHRONE_TOPOLOGY" : path) + ' ' + why;
        return std::string{};
    };
    const int file = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return refuse(path.empty() ? "is not set" : "cannot be read");
    struct stat about {};
    std::string text;
    std::string why;
    if (fstat(file, &about) != 0) {
        why = "cannot be read";
    } else if (!S_ISREG(about.st_mode)) {
        why = "is not a file";
    } else if (about.st_size > largest) {
        why = "is too long";
    } else {
        text.resize(static_cast<std::size_t>(about.st_size));
        std::size_t have = 0;
        while (have < text.size()) {
            const ssize_t got = read(file, text.data() + have, text.size() - have);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            have += static_cast<std::size_t>(got);
        }
        if (have < text.size()) why = "cannot be read";
    }
    close(file);
    return why.empty() ? text : refuse(why);
}

/// Calls visit(file name without folders) for each loaded object.
template <class Visit>
void each_object(Visit&& visit) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            (*static_cast<Visit*>(data))(path.substr(path.rfind('/') + 1));
            return 0;
        },
        &visit);
}

}  // namespace

Inputs read_inputs() {
    Inputs inputs;
    inputs.explain = is_on("ISOCHRONE_EXPLAIN");
    inputs.check = is_on("ISOCHRONE_CHECK");
    inputs.reproducible = is_on("ISOCHRONE_REPRODUCIBLE");
    inputs.summary = is_on("ISOCHRONE_SUMMARY");
    inputs.only = variable("ISOCHRONE_ONLY");
    if (const std::string path = or_else(plan_file, "ISOCHRONE_PLAN"); !path.empty()) {
        const std::string whether = variable("ISOCHRONE");
        if (!whether.empty() && whether != "on" && whether != "1") {
            inputs.complaint = "ISOCHRONE is '" + whether.substr(0, 60) + "', and neither on nor off";
        }
        inputs.plan = read_file(path, inputs.complaint);
        inputs.topology = read_file(or_else(topology_file, "ISOCHRONE_TOPOLOGY"), inputs.complaint);
    }
    return inputs;
}

void name_files(std::string plan, std::string topology) {
    plan_file = std::move(plan);
    topology_file = std::move(topology);
}

bool is_turned_off() {
    const std::string value = variable("ISOCHRONE");
    return value == "off" || value == "0";
}

void check_belongs(const core::select::Plan& plan, const core::topology::Topology& topology) {
    if (plan.topology_fingerprint != topology.fingerprint)
        throw std::invalid_argument("the plan was made for another topology");
    const comm::Library library = comm::library_identity();
    if (plan.mpi_abi != library.abi) {
        throw std::invalid_argument("the plan was made for " + plan.mpi_abi + ", and this program runs on " +
                                    library.abi);
    }
    if (plan.mpi_library != library.name) {
        throw std::invalid_argument("the plan was made for " + plan.mpi_library +
                                    ", and this program runs on " + library.name);
    }
}

bool gpu_runtime_is_loaded() {
    bool found = false;
    each_object([&](std::string_view name) {
        for (const char* runtime :
             {"libcuda.so", "libcudart", "libamdhip64", "libhsa-runtime", "libze_loader"}) {
            found = found || name.starts_with(runtime);
        }
    });
    return found;
}

bool plan_is_asked_for() { return !or_else(plan_file, "ISOCHRONE_PLAN").empty(); }

}  // namespace isochrone::mpi::interpose
