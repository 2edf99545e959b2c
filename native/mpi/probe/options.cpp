// SPDX-License-Identifier: BSD-3-Clause
#include "probe/options.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "comm/command_line.hpp"
#include "comm/version.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr std::int64_t max_size_bytes = std::int64_t{1} << 30;
constexpr std::size_t max_sizes = 64;
constexpr int max_repetitions = 1'000'000;
// JSON numbers are doubles to many readers: integers beyond this would not survive.
constexpr std::uint64_t max_seed = std::uint64_t{1} << 53;

std::string check_sizes(const std::vector<std::int64_t>& sizes_bytes) {
    if (sizes_bytes.size() > max_sizes) return "at most " + std::to_string(max_sizes) + " sizes";
    for (std::size_t i = 1; i < sizes_bytes.size(); ++i) {
        if (sizes_bytes[i] <= sizes_bytes[i - 1]) return "sizes must ascend";
    }
    return {};
}

}  // namespace

std::optional<std::pair<int, int>> parse_pair(std::string_view text, bool directed) {
    std::pair<int, int> pair;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, pair.first);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, pair.second);
    if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
    if (pair.first < 0 || pair.second < 0 || pair.first == pair.second) return std::nullopt;
    if (pair.first > pair.second && !directed) return std::nullopt;
    return pair;
}

std::variant<Options, comm::Leave> parse_options(int argc, const char* const* argv) {
    Options options;
    CLI::App app(
        "Times messages between all pairs of MPI ranks. Run it with an MPI launcher; the same command "
        "resumes "
        "a run that was interrupted.",
        "isochrone-probe");
    app.set_version_flag("--version", comm::isochrone_version);
    app.add_option("-o,--output", options.output, "File to write, or to go on writing (measurements.jsonl)")
        ->required()
        ->type_name("FILE");
    app.add_option("--sizes", options.sizes_bytes, "Message sizes, ascending")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{0}, max_size_bytes))
        ->type_name("BYTES,...")
        ->capture_default_str();
    app.add_option("--repetitions", options.repetitions, "Timed ping-pongs for each pair and size")
        ->check(CLI::Range(1, max_repetitions))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--warmup", options.warmup, "Ping-pongs for each pair and size before the timed ones")
        ->check(CLI::Range(0, max_repetitions))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--patience", options.patience_s,
                   "Time for one size of one pair: fewer ping-pongs where they would take longer, and none "
                   "where one would take four times as long; 0: no limit")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("--precision", options.precision,
                   "No more ping-pongs of a pair and size once the 95 % confidence interval of the median is "
                   "narrower than this share of it; 0: all of them")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE")
        ->capture_default_str();
    app.add_option("--budget", options.budget_s,
                   "Time for all pairs together: fewer ping-pongs where they would take longer, but one of "
                   "each at least; 0: no limit")
        ->check(CLI::Range(0.0, 1e7))
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_flag("--estimate", options.estimate,
                 "Measure a few pairs only, write no file, and print what all would take");
    app.add_option("--seed", options.seed, "Of the random order in which the pairs are measured")
        ->check(CLI::Range(std::uint64_t{0}, max_seed))
        ->type_name("N")
        ->capture_default_str();
    CLI::Option* const together =
        app.add_option("--together", options.together,
                       "Pairs that are measured at once: 'none', those that share no node, or 'all' that "
                       "share no rank")
            ->check(CLI::IsMember({"none", "nodes", "all"}))
            ->capture_default_str();
    std::string clusters;
    CLI::Option* const clustered =
        app.add_option("--clusters", clusters,
                       "Measure pairs at once where the innermost clusters that they are in have no rank in "
                       "common, one in each group; as (0-7)(8-15) or ((0-3)(4-7))((8,10)(9,11))")
            ->excludes(together)
            ->type_name("TREE");
    app.add_flag(
        "--plogp", options.plogp,
        "All PLogP parameters of each pair too: round trips, overheads and gap for 0 bytes and powers "
        "of two, and for sizes between where there is a step");
    app.add_option("--max-size", options.max_bytes, "Largest size of --plogp")
        ->check(CLI::Range(std::int64_t{1}, max_size_bytes))
        ->type_name("BYTES")
        ->capture_default_str();
    std::string method = "default";
    app.add_option("--method", method,
                   "Of --plogp: with 'thesis', the send overhead is that of a synchronous send, which has a "
                   "handshake in it")
        ->check(CLI::IsMember({"default", "thesis"}))
        ->capture_default_str();
    app.add_flag("--both", options.both, "Parameters of --plogp in both directions");
    std::vector<std::string> pairs;
    app.add_option("--pairs", pairs, "Only these pairs")->delimiter(',')->type_name("RANK-RANK,...");
    app.add_option("--follow-above", options.follow_above,
                   "Write the lines of the output to standard output too, and then measure what lines of "
                   "standard input ask for; with more ranks than this nothing before that; -1: never")
        ->check(CLI::Range(-1, std::numeric_limits<int>::max()))
        ->type_name("RANKS")
        ->capture_default_str();
    const auto leave = comm::parse(app, argc, argv, [&] {
        const std::string complaint = check_sizes(options.sizes_bytes);
        if (!complaint.empty()) throw CLI::ValidationError("--sizes", complaint);
        // What is not a number is in every range.
        if (std::isnan(options.precision + options.budget_s + options.patience_s))
            throw CLI::ValidationError("--precision, --budget, --patience", "not a number");
        for (const std::string& text : pairs) {
            const auto pair = parse_pair(text);
            if (!pair) {
                throw CLI::ValidationError(
                    "--pairs", "'" + text + "' is no pair of ranks: write the lesser first, as 0-5");
            }
            options.pairs.push_back(*pair);
        }
        if (clustered->count() > 0) {
            try {
                options.clusters.emplace(clusters);
            } catch (const std::invalid_argument& error) {
                throw CLI::ValidationError("--clusters", error.what());
            }
        }
        options.synchronous = method == "thesis";
    });
    if (leave) return *leave;
    return options;
}

}  // namespace isochrone::mpi::probe
