// SPDX-License-Identifier: BSD-3-Clause
#include "record/profile_file.hpp"

#include <nlohmann/json.hpp>

#include "collectives/collective.hpp"
#include "comm/json.hpp"
#include "comm/library.hpp"
#include "record/file.hpp"

namespace isochrone::mpi::record {

std::string write(const std::string& path, const Profile& profile, const std::vector<comm::Place>& places) {
    using nlohmann::ordered_json;
    ordered_json groups = ordered_json::array();
    for (const auto& ranks : profile.groups) groups.push_back(ordered_json::parse(runs_of(ranks)));
    ordered_json rows = ordered_json::array();
    for (const TimedCalls& row : profile.rows) {
        const auto name = core::collectives::all()[static_cast<std::size_t>(row.collective)].name;
        rows.push_back({{"collective", std::string(name)},
                        {"group", row.group},
                        {"root", row.root},
                        {"calls", row.calls},
                        {"bytes", row.bytes},
                        {"seconds", row.seconds},
                        {"slowest_s", row.slowest_s},
                        {"sampled", row.sampled},
                        {"sampled_s", row.sampled_s},
                        {"waiting_s", row.waiting_s},
                        {"operation_s", row.operation_s},
                        {"operation_median_s", row.operation_median_s}});
    }
    ordered_json untimed;
    for (std::size_t kind = 0; kind < untimed_names.size(); ++kind)
        untimed[untimed_names[kind]] = profile.untimed[kind];
    const ordered_json document{
        {"isochrone", "profile"},
        {"schema_version", 1},
        {"ranks", places.size()},
        {"mpi", comm::library_json(comm::library_identity())},
        {"places", comm::places_json(places)},
        {"sync_error_s", profile.sync_error_s},
        {"rank_s", profile.rank_s},
        {"collectives_s", profile.collectives_s},
        {"waiting_s", profile.waiting_s},
        {"groups", groups},
        {"rows", rows},
        {"untimed", untimed},
        {"provenance", ordered_json::parse(provenance())},
    };
    return write_whole(path, [&](std::FILE* file) {
        const std::string text = comm::json_line(document) + '\n';
        std::fwrite(text.data(), 1, text.size(), file);
    });
}

}  // namespace isochrone::mpi::record
