// SPDX-License-Identifier: BSD-3-Clause
#include "comm/requests.hpp"

#include <cstdio>

#include "comm/program.hpp"

namespace isochrone::mpi::comm {

std::optional<std::string> next_request(std::size_t longest) {
    std::string line;
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
        if (c == '\n') {
            if (line == "end") return std::nullopt;
            return line;
        }
        if (line.size() == longest) throw Failure(usage_error, "a request is too long");
        line += static_cast<char>(c);
    }
    if (!line.empty()) throw Failure(usage_error, "a request is not complete");
    return std::nullopt;
}

}  // namespace isochrone::mpi::comm
