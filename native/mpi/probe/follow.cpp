// SPDX-License-Identifier: BSD-3-Clause
#include "probe/follow.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "comm/requests.hpp"
#include "comm/wait.hpp"

namespace isochrone::mpi::probe {

namespace {

// Far longer than the list of all pairs of ten thousand ranks that a file could hold.
constexpr std::size_t longest_line = std::size_t{1} << 30;
constexpr std::int64_t max_stream_bytes = std::int64_t{1} << 30;
constexpr std::int64_t max_messages = 1'000'000;

struct Request {
    int code = comm::success;
    bool more = true;
    Way way;
    std::int64_t bytes = 0;  // of the messages of a stream
    int messages = 0;        // 0: no stream
    std::vector<std::pair<int, int>> pairs;
};

[[noreturn]] void refuse(const std::string& what) { throw comm::Failure(comm::usage_error, what); }

/// The words up to the next blank; `text` begins after it then.
std::string_view next_word(std::string_view& text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    return word;
}

std::int64_t parse_number(std::string_view word, std::int64_t most) {
    std::int64_t value = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end.ec != std::errc() || end.ptr != word.data() + word.size() || value < 1 || value > most)
        refuse("a request has '" + std::string(word.substr(0, 40)) + "' for a number from 1 to " +
               std::to_string(most));
    return value;
}

/// The ranks of a stream are in one pair each.
void check_disjoint(const std::vector<std::pair<int, int>>& pairs) {
    std::set<int> ranks;
    for (const auto& [one, other] : pairs) {
        if (!ranks.insert(one).second || !ranks.insert(other).second)
            refuse("a request has a rank in two pairs of a stream");
    }
}

Request read_request(int ranks, bool plogp) {
    Request request;
    const auto line = comm::next_request(longest_line);
    request.more = line.has_value();
    if (!request.more) return request;
    std::string_view text = *line;
    const std::string_view kind = next_word(text);
    const bool stream = kind == "stream";
    if (kind == "plogp") {
        // Gaps come from many messages in a row, which would fill what others use too.
        request.way = {.parameters = true, .alone = true};
    } else if (kind == "alone") {
        request.way = {.alone = true, .again = true};
    } else if (stream) {
        request.bytes = parse_number(next_word(text), max_stream_bytes);
        request.messages = static_cast<int>(parse_number(next_word(text), max_messages));
    } else if (kind != "rtt") {
        refuse("a request begins with none of rtt, plogp, alone, stream and end");
    }
    if (request.way.parameters && !plogp) refuse("parameters are asked for without --plogp");
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t next = std::min(text.find(',', at), text.size());
        const std::string_view word = text.substr(at, next - at);
        const auto pair = parse_pair(word, stream);
        if (!pair || std::max(pair->first, pair->second) >= ranks) {
            refuse("a request has '" + std::string(word.substr(0, 40)) +
                   "', which is no pair of ranks: the lesser first, as 0-5");
        }
        request.pairs.push_back(*pair);
        at = next + 1;
    }
    if (stream) check_disjoint(request.pairs);
    return request;
}

/// Rank 0's request on all ranks.
void share(MPI_Comm comm, Request& request) {
    comm::wait_for_rank_0(comm);
    std::array<std::int64_t, 8> fields{request.code,
                                       request.more ? 1 : 0,
                                       request.way.parameters ? 1 : 0,
                                       request.way.alone ? 1 : 0,
                                       request.way.again ? 1 : 0,
                                       request.bytes,
                                       request.messages,
                                       std::ssize(request.pairs)};
    comm::check(MPI_Bcast(fields.data(), static_cast<int>(fields.size()), MPI_INT64_T, 0, comm), "MPI_Bcast");
    request.code = static_cast<int>(fields[0]);
    request.more = fields[1] != 0;
    request.way = {fields[2] != 0, fields[3] != 0, fields[4] != 0};
    request.bytes = fields[5];
    request.messages = static_cast<int>(fields[6]);
    std::vector<int> ranks(2 * static_cast<std::size_t>(fields[7]));
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
        const int code = request.messages > 0
                             ? campaign.stream(request.pairs, request.bytes, request.messages)
                             : campaign.measure(std::move(request.pairs), request.way);
        if (code != comm::success) return code;
    }
}

}  // namespace isochrone::mpi::probe
