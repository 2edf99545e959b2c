// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/learned.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "compose/recipe.hpp"

namespace isochrone::mpi::interpose {

using Document = nlohmann::ordered_json;

void Learned::note(const executor::Live::Kind& kind, const std::string& order) {
    const auto& proof = kind.proof;
    // Where operands keep their order fewer recipes can be; a rule is for the others too.
    if (proof.blocks == 0 || kind.question.in_order) return;
    const auto* recipe = kind.incumbent->resolved;
    const auto key = std::string(kind.question.collective->name) + '\n' + kind.shape + '\n' + order + '\n' +
                     std::to_string(kind.sizes.min_bytes);
    // A rule that is for the library's own ends all trials: as long as others are to be tried, there is none.
    if (recipe != nullptr ? !proof.shows_gain() : kind.is_seeking()) {
        const auto known = rules_.find(key);
        if (known != rules_.end() && known->second.of == &kind) rules_.erase(known);
        return;
    }
    const double model_s = kind.incumbent->model_s;
    const Document rule{{"collective", kind.question.collective->name},
                        {"shape", kind.shape},
                        {"min_bytes", kind.sizes.min_bytes},
                        {"max_bytes", kind.sizes.max_bytes},
                        {"recipe", recipe == nullptr ? "native" : core::compose::to_text(recipe->recipe)},
                        {"basis", "live"},
                        {"order", order},
                        {"evidence",
                         {{"native_s", proof.native_s},
                          {"recipe_s", proof.own_s},
                          {"speedup", proof.speedup},
                          {"speedup_ci", {proof.least, proof.largest}},
                          {"repetitions", proof.blocks},
                          {"predicted_s", model_s > 0 ? Document(model_s) : Document()}}}};
    rules_[key] = {rule.dump(), &kind};
}

void Learned::write(const std::string& folder, const core::select::Plan& plan) const {
    if (rules_.empty()) return;
    Document document{{"isochrone", "learned"},
                      {"schema_version", 1},
                      {"topology", {{"fingerprint", plan.topology_fingerprint}}},
                      {"mpi", {{"library", plan.mpi_library}, {"abi", plan.mpi_abi}}},
                      {"plan_time", plan.time},
                      {"rules", Document::array()}};
    for (const auto& [key, rule] : rules_) document["rules"].push_back(Document::parse(rule.text));
    std::random_device random;
    const std::string name = folder + "/" + std::to_string(random()) + std::to_string(random());
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    // Readers look for .json alone.
    std::ofstream file(name + ".part");
    file << document.dump(1) << '\n';
    file.close();
    if (file) std::filesystem::rename(name + ".part", name + ".json", error);
    if (!file || error)
        std::fprintf(stderr, "isochrone: what was found live cannot be kept in %s\n", folder.c_str());
}

}  // namespace isochrone::mpi::interpose
