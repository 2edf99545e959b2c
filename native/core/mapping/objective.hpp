// SPDX-License-Identifier: BSD-3-Clause
//
// What a mapping costs: for each pair of tasks the weights of its edge times the distances of their places,
// added over the terms of the objective. With one term it is the J of process mapping (Schulz and Träff,
// "Better Process Mapping and Sparse Quadratic Assignment", SEA 2017), there counted in both directions.
#pragma once

#include <vector>

#include "mapping/graph.hpp"
#include "mapping/places.hpp"

namespace isochrone::core::mapping {

/// The cost of a mapping, each edge counted once.
[[nodiscard]] double cost(const Graph& graph, const Places& places, const Assignment& at);

/// How many tasks are at each place.
[[nodiscard]] std::vector<std::int64_t> loads(const Graph& graph, const Places& places, const Assignment& at);

/// How many tasks are at places beyond their capacity.
[[nodiscard]] std::int64_t overload(const Places& places, const std::vector<std::int64_t>& loads);

/// What a mapping is worth: what is too much at places first, then its cost.
struct Worth {
    std::int64_t over;
    double cost;
    bool operator<(const Worth& other) const {
        return over != other.over ? over < other.over : cost < other.cost;
    }
};
[[nodiscard]] Worth worth(const Graph& graph, const Places& places, const Assignment& at);

/// What one vertex is tied to: for each place where neighbours are, the sum of the weights to them.
class Ties {
  public:
    explicit Ties(const Places& places)
        : places_(&places),
          row_(static_cast<std::size_t>(places.count()), -1),
          terms_(static_cast<std::size_t>(places.terms())) {}

    void collect(const Graph& graph, const Assignment& at, int vertex) {
        for (const int place : where_) row_[static_cast<std::size_t>(place)] = -1;
        where_.clear();
        sums_.clear();
        const auto v = static_cast<std::size_t>(vertex);
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            const int place = at[static_cast<std::size_t>(graph.neighbours[e])];
            if (place < 0) continue;
            int& row = row_[static_cast<std::size_t>(place)];
            if (row < 0) {
                row = static_cast<int>(where_.size());
                where_.push_back(place);
                sums_.insert(sums_.end(), graph.weight(e), graph.weight(e) + terms_);
            } else {
                for (std::size_t t = 0; t < terms_; ++t)
                    sums_[static_cast<std::size_t>(row) * terms_ + t] += graph.weight(e)[t];
            }
        }
    }

    /// Where neighbours are, each place once.
    [[nodiscard]] const std::vector<int>& where() const { return where_; }

    /// What the edges of the vertex cost if it is at a place.
    [[nodiscard]] double cost_at(int place) const {
        double sum = 0;
        if (terms_ == 1) {
            for (std::size_t i = 0; i < where_.size(); ++i)
                sum += sums_[i] * *places_->distances(place, where_[i]);
            return sum;
        }
        for (std::size_t i = 0; i < where_.size(); ++i) {
            const double* distances = places_->distances(place, where_[i]);
            for (std::size_t t = 0; t < terms_; ++t) sum += sums_[i * terms_ + t] * distances[t];
        }
        return sum;
    }

  private:
    const Places* places_;
    std::vector<int> row_;  ///< [place], in the sums; -1 for none
    std::vector<int> where_;
    std::vector<double> sums_;  ///< [row][term]
    std::size_t terms_;
};

}  // namespace isochrone::core::mapping
