// SPDX-License-Identifier: BSD-3-Clause
#include "probe/record.hpp"

#include <algorithm>
#include <utility>

#include "comm/json.hpp"

namespace isochrone::mpi::probe {

using nlohmann::ordered_json;

#ifdef ISOCHRONE_SMPI
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

ordered_json header_json(const Options& options, const std::vector<comm::Place>& places,
                         const comm::Library& library, const clock::Calibration& calibration,
                         ordered_json provenance) {
    ordered_json plogp = nullptr;
    if (options.plogp) {
        plogp = {{"max_bytes", options.max_bytes},
                 {"method", options.synchronous ? "thesis" : "default"},
                 {"both", options.both}};
    }
    return {{"isochrone", "measurements"},
            {"schema_version", 1},
            {"ranks", places.size()},
            {"sizes_bytes", options.sizes_bytes},
            {"repetitions", options.repetitions},
            {"seed", options.seed},
            {"plogp", std::move(plogp)},
            {"places", comm::places_json(places)},
            {"mpi", comm::library_json(library)},
            {"clock", {{"resolution_s", calibration.resolution_s}, {"overhead_s", calibration.overhead_s}}},
            {"simulated", simulated},
            {"provenance", std::move(provenance)}};
}

std::string pair_line(const PairRecord& record, int repetitions, bool alone) {
    ordered_json line = {{"pair", ordered_json::array({record.low, record.high})},
                         {"rtt_min_s", record.times.rtt_min_s},
                         {"rtt_median_s", record.times.rtt_median_s},
                         {"send_overhead_s", record.times.send_overhead_s},
                         {"at_s", record.at_s}};
    if (alone) line["alone"] = true;
    const std::vector<int>& counts = record.times.repetitions;
    const auto usual = [repetitions](int count) { return count == repetitions; };
    if (!std::all_of(counts.begin(), counts.end(), usual)) line["repetitions"] = counts;
    for (const Parameters& found : record.parameters) {
        line["plogp"].push_back({{"from", found.from},
                                 {"sizes_bytes", found.sizes_bytes},
                                 {"rtt_s", found.rtt_s},
                                 {"send_overhead_s", found.send_overhead_s},
                                 {"receive_overhead_s", found.receive_overhead_s},
                                 {"gap_s", found.gap_s}});
    }
    return comm::json_line(line) + '\n';
}

std::string stream_line(const StreamRecord& record) {
    return comm::json_line({{"stream", record.pairs},
                            {"bytes", record.bytes},
                            {"messages", record.messages},
                            {"elapsed_s", record.elapsed_s},
                            {"at_s", record.at_s}}) +
           '\n';
}

std::string end_line(double elapsed_s, std::uint64_t pairs) {
    return comm::json_line({{"end", true}, {"elapsed_s", elapsed_s}, {"pairs", pairs}}) + '\n';
}

}  // namespace isochrone::mpi::probe
