// SPDX-License-Identifier: BSD-3-Clause
#include "probe/follow.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/check.hpp"
#include "comm/program.hpp"

namespace isochrone::mpi::probe {

namespace {

// Far longer than the list of all pairs of ten thousand ranks that a file could hold.
constexpr std::size_t longest_line = std::size_t{1} << 30;

struct Request {
    int code = comm::success;
    bool more = true;
    bool parameters = false;
    std::vector<std::pair<int, int>> pairs;
};

/// A line without its line break; false at the end of the input.
bool read_line(std::string& line) {
    line.clear();
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
        if (c == '\n') return true;
        if (line.size() == longest_line) throw comm::Failure(comm::usage_error, "a request is too long");
        line += static_cast<char>(c);
    }
    if (!line.empty()) throw comm::Failure(comm::usage_error, "a request is not complete");
    return false;
}

Request read_request(int ranks, bool plogp) {
    Request request;
    std::string line;
    request.more = read_line(line);
    if (!request.more) return request;
    const std::string_view text = line;
    const std::size_t space = text.find(' ');
    const std::string_view kind = text.substr(0, space);
    request.parameters = kind == "plogp";
    if (space == std::string_view::npos || (kind != "rtt" && !request.parameters))
        throw comm::Failure(comm::usage_error, "a request is neither 'rtt PAIRS' nor 'plogp PAIRS'");
    if (request.parameters && !plogp)
        throw comm::Failure(comm::usage_error, "parameters are asked for without --plogp");
    for (std::size_t at = space; at != std::string_view::npos;) {
        const std::size_t next = text.find(',', at + 1);
        const std::string_view word =
            text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
        const auto pair = parse_pair(word);
        if (!pair || pair->second >= ranks) {
            throw comm::Failure(comm::usage_error,
                                "a request has '" + std::string(word.substr(0, 40)) +
                                    "', which is no pair of ranks: the lesser first, as 0-5");
        }
        request.pairs.push_back(*pair);
        at = next;
    }
    return request;
}

/// Rank 0's request on all ranks.
void share(MPI_Comm comm, Request& request) {
    std::array<int, 4> fields{request.code, request.more ? 1 : 0, request.parameters ? 1 : 0,
                              static_cast<int>(request.pairs.size())};
    comm::check(MPI_Bcast(fields.data(), 4, MPI_INT, 0, comm), "MPI_Bcast");
    request.code = fields[0];
    request.more = fields[1] != 0;
    request.parameters = fields[2] != 0;
    std::vector<int> ranks(2 * static_cast<std::size_t>(fields[3]));
    if (ranks.empty()) return;
    if (comm::rank_in(comm) == 0) {
        for (std::size_t k = 0; k < request.pairs.size(); ++k) {
            ranks[2 * k] = request.pairs[k].first;
            ranks[2 * k + 1] = request.pairs[k].second;
        }
    }
    comm::check(MPI_Bcast(ranks.data(), static_cast<int>(ranks.size()), MPI_INT, 0, comm), "MPI_Bcast");
    request.pairs.resize(ranks.size() / 2);
    for (std::size_t k = 0; k < request.pairs.size(); ++k)
        request.pairs[k] = {ranks[2 * k], ranks[2 * k + 1]};
}

}  // namespace

int follow(MPI_Comm comm, Campaign& campaign, bool plogp) {
    const bool reads = comm::rank_in(comm) == 0;
    const int ranks = comm::size_of(comm);
    for (;;) {
        Request request;
        if (reads) {
            try {
                request = read_request(ranks, plogp);
            } catch (const comm::Failure& failure) {
                std::fprintf(stderr, "isochrone-probe: standard input: %s\n", failure.what());
                request.code = failure.code();
                request.pairs.clear();
            }
        }
        campaign.gather();
        share(comm, request);
        if (request.code != comm::success || !request.more) return request.code;
        const int code = campaign.measure(std::move(request.pairs), request.parameters);
        if (code != comm::success) return code;
    }
}

}  // namespace isochrone::mpi::probe
