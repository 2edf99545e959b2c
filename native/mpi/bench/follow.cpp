// SPDX-License-Identifier: BSD-3-Clause
#include "bench/follow.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "comm/check.hpp"
#include "comm/json.hpp"
#include "comm/program.hpp"
#include "comm/requests.hpp"
#include "comm/shared_text.hpp"

namespace isochrone::mpi::bench {
namespace {

// Four paths.
constexpr std::size_t longest_request = std::size_t{1} << 16;

/// Rank 0's next line on all ranks; none at the end. Throws comm::Failure on all ranks.
std::optional<std::string> shared_request(MPI_Comm comm) {
    return comm::shared_text(comm, [] {
        try {
            return comm::next_request(longest_request);
        } catch (const comm::Failure& failure) {
            throw comm::Failure(failure.code(), std::string("standard input: ") + failure.what());
        }
    });
}

Options parse_request(const std::string& line) {
    Options options;
    const std::array<std::pair<const char*, std::string*>, 4> members{{{"work", &options.work},
                                                                       {"output", &options.output},
                                                                       {"topology", &options.topology},
                                                                       {"plan", &options.plan}}};
    const auto request = nlohmann::json::parse(line, nullptr, false);
    std::size_t known = 0;
    if (request.is_object()) {
        for (const auto& [name, value] : members) {
            const auto found = request.find(name);
            if (found == request.end() || !found->is_string()) continue;
            *value = found->get<std::string>();
            ++known;
        }
    }
    const bool is_whole = !options.work.empty() && !options.output.empty();
    if (!is_whole || known != request.size() || (!options.plan.empty() && options.topology.empty())) {
        throw comm::Failure(
            comm::usage_error,
            "standard input: a request has files for work and output, maybe for topology, and "
            "with it for plan, but no more");
    }
    return options;
}

}  // namespace

int follow(MPI_Comm comm, const std::function<int(const Options&)>& time_one) {
    while (const auto line = shared_request(comm)) {
        const Options options = parse_request(*line);
        const int code = time_one(options);
        if (code != comm::success) return code;
        if (comm::rank_in(comm) == 0) {
            std::puts(comm::json_line({{"done", options.output}}).c_str());
            std::fflush(stdout);
        }
    }
    return comm::success;
}

}  // namespace isochrone::mpi::bench
