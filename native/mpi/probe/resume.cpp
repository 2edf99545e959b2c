// SPDX-License-Identifier: BSD-3-Clause
#include "probe/resume.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

#include "comm/program.hpp"
#include "json/read.hpp"

namespace isochrone::mpi::probe {

using comm::Failure;
using nlohmann::json;

namespace {

constexpr std::size_t max_header_bytes = std::size_t{64} << 20;
constexpr std::size_t max_line_bytes = std::size_t{4} << 20;  // of a stream of 65,536 pairs
constexpr std::string_view header_start = R"({"isochrone":"measurements")";

struct Line {
    std::string text;         ///< without its line break, and cut at the limit
    std::uint64_t bytes = 0;  ///< in the file, with its line break
    bool complete = false;    ///< ended by a line break, and not cut
};

std::optional<Line> read_line(std::FILE* file, std::size_t limit) {
    Line line;
    for (int c = getc_unlocked(file); c != EOF; c = getc_unlocked(file)) {
        ++line.bytes;
        if (c == '\n') {
            line.complete = line.bytes - 1 == line.text.size();
            return line;
        }
        if (line.text.size() < limit) line.text += static_cast<char>(c);
    }
    if (line.bytes == 0) return std::nullopt;
    return line;
}

bool at_end(std::FILE* file) {
    const int c = std::getc(file);
    if (c == EOF) return true;
    std::ungetc(c, file);
    return false;
}

/// What is no JSON, or not to be handled, is discarded.
json parsed(const std::string& text) {
    return core::json::too_deep(text) ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
}

std::string describe(const json& value) {
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 80) text = text.substr(0, 77) + "...";
    return text;
}

std::string what_differs(const json& theirs, const json& ours) {
    for (const char* key : {"ranks", "sizes_bytes", "repetitions", "seed", "plogp", "simulated", "mpi"}) {
        if (theirs.value(key, json()) != ours[key]) {
            return std::string(key) + " is " + describe(theirs.value(key, json())) + ", of this run " +
                   describe(ours[key]);
        }
    }
    const json places = theirs.value("places", json());
    if (places == ours["places"]) return {};
    if (!places.is_array() || places.size() != ours["places"].size())
        return "places is no list of one place for each rank";
    std::size_t rank = 0;
    while (places[rank] == ours["places"][rank]) ++rank;
    return "rank " + std::to_string(rank) + " was at " + describe(places[rank]) + ", now at " +
           describe(ours["places"][rank]);
}

void check_header(const Line& line, const std::string& where, const json& ours) {
    const json theirs = line.complete ? parsed(line.text) : json();
    if (!theirs.is_object() || theirs.value("isochrone", json()) != "measurements") {
        throw Failure(comm::usage_error, where + ": not a file of measurements: choose another --output");
    }
    if (theirs.value("schema_version", json()) != ours["schema_version"]) {
        throw Failure(comm::usage_error, where + ": schema_version is " +
                                             describe(theirs.value("schema_version", json())) +
                                             ", this probe knows 1: choose another --output");
    }
    const std::string difference = what_differs(theirs, ours);
    if (!difference.empty()) {
        throw Failure(comm::usage_error,
                      where + ": measured otherwise (" + difference +
                          "): choose another --output, or delete this file to measure anew");
    }
}

bool is_times(const json& record, const char* key, std::size_t sizes) {
    const auto found = record.find(key);
    if (found == record.end() || !found->is_array() || found->size() != sizes) return false;
    for (const json& value : *found) {
        // What would have taken too long is null; what decides is there.
        if (value.is_null() && &value != &found->front()) continue;
        if (!value.is_number() || value.get<double>() < 0) return false;
    }
    return true;
}

/// A complaint about the line, or nothing if it was taken in.
std::string take(const Line& line, std::size_t sizes, std::int64_t ranks, Resume& resume) {
    if (!line.complete) return line.text.size() < line.bytes ? "longer than any measurement" : "not complete";
    const json record = parsed(line.text);
    if (!record.is_object()) return "not a JSON object";
    if (record.contains("end")) {
        resume.ended = true;
        return {};
    }
    // These are not for this program to judge.
    if (record.contains("stream") || record.contains("alone")) return {};
    const json pair = record.value("pair", json());
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() ||
        !pair[1].is_number_integer()) {
        return "no pair of ranks";
    }
    // An unsigned number beyond the range of the signed ones reads as a negative one, which is refused all
    // the same.
    const auto low = pair[0].get<std::int64_t>();
    const auto high = pair[1].get<std::int64_t>();
    if (low < 0 || low >= high || high >= ranks) return "no pair of ranks";
    for (const char* key : {"rtt_min_s", "rtt_median_s", "send_overhead_s"}) {
        if (!is_times(record, key, sizes)) return std::string(key) + " is no list of one time for each size";
        for (std::size_t size = 0; size < sizes; ++size) {
            if (record[key][size].is_null() != record["rtt_min_s"][size].is_null())
                return std::string(key) + " and rtt_min_s have no times for different sizes";
        }
    }
    // A pair may have been measured again, with all its parameters: then the last line counts.
    resume.done.insert(static_cast<int>(low), static_cast<int>(high));
    return {};
}

}  // namespace

Resume read_measurements(std::FILE* file, const std::string& path, const nlohmann::ordered_json& header) {
    const json ours = json::parse(header.dump(-1, ' ', false, json::error_handler_t::replace));
    const auto ranks = ours["ranks"].get<std::int64_t>();
    const std::size_t sizes = ours["sizes_bytes"].size();
    Resume resume(static_cast<int>(ranks));

    std::optional<Line> line = read_line(file, max_header_bytes);
    if (!line) return resume;
    const bool torn = at_end(file) && line->bytes == line->text.size();
    if (torn && std::string_view(line->text).substr(0, header_start.size()) ==
                    header_start.substr(0, line->text.size())) {
        resume.dropped = path + ":1: dropped: the first line is not complete; measuring from the start";
        return resume;
    }
    check_header(*line, path + ":1", ours);
    resume.has_header = true;
    resume.valid_bytes = line->bytes;

    for (std::uint64_t number = 2; (line = read_line(file, max_line_bytes)); ++number) {
        resume.ended = false;
        const std::string complaint = take(*line, sizes, ranks, resume);
        if (!complaint.empty()) {
            const std::string where = path + ':' + std::to_string(number) + ": ";
            if (!at_end(file)) {
                throw Failure(comm::failure,
                              where + "damaged (" + complaint +
                                  "): delete the line to measure it anew, or choose another --output");
            }
            resume.dropped = where + "dropped a damaged last line (" + complaint + ")";
            break;
        }
        resume.valid_bytes += line->bytes;
    }
    if (std::ferror(file) != 0) throw Failure(comm::failure, path + ": cannot be read");
    return resume;
}

}  // namespace isochrone::mpi::probe
