// SPDX-License-Identifier: BSD-3-Clause
#include "select/fit.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace isochrone::core::select {
namespace {

constexpr std::size_t most_named = 2;

/// "8 ranks in one machine (node 2x4)": other than the text of a shape it can stand within a sentence.
std::string in_words(std::string_view shape) {
    const std::size_t end = shape.find("; ");
    if (end == std::string_view::npos) return std::string(shape);
    return std::string(shape.substr(0, end)) + " (" + std::string(shape.substr(end + 2)) + ")";
}

std::string named(const std::vector<std::string_view>& shapes) {
    std::string result;
    for (std::size_t i = 0; i < std::min(shapes.size(), most_named); ++i) {
        const bool is_last = i + 1 == shapes.size();
        if (i > 0) result += is_last ? " and " : ", ";
        result += in_words(shapes[i]);
    }
    if (shapes.size() > most_named) result += " and " + std::to_string(shapes.size() - most_named) + " more";
    return result;
}

}  // namespace

std::string misfit(const Plan& plan, const place::Layout& job, bool tried) {
    if (job.size == 1) return {};
    const std::string here = place::shape(job);
    const std::string order = place::order(job);
    std::vector<std::string_view> shapes;
    std::set<std::string_view> seen;
    std::string_view other_order;
    for (const Rule& rule : plan.rules) {
        const std::string_view shape = place::without_root(rule.shape);
        if (shape == here && (rule.order.empty() || rule.order == order)) return {};
        if (shape == here) other_order = rule.order;
        if (seen.insert(shape).second) shapes.push_back(shape);
    }
    if (shapes.empty()) {
        return "the plan has no rule for any collective, so the MPI library's own run; survey again: "
               "isochrone survey -o OTHER -- LAUNCHER ..., then: isochrone run --plan OTHER";
    }
    const std::string meanwhile =
        tried ? "so recipes for collectives among all of them are only predicted, and tried"
              : "so collectives among all of them are the MPI library's own";
    const std::string holds = other_order.empty() ? named(shapes) + "; this job has " + in_words(here)
                                                  : "ranks in the order " + std::string(other_order) +
                                                        "; this job has them in the order " + order;
    return "the plan holds for " + holds + ", " + meanwhile +
           "; survey with ranks like these: isochrone survey -o OTHER -- LAUNCHER ..., then: isochrone run "
           "--plan OTHER";
}

}  // namespace isochrone::core::select
