// SPDX-License-Identifier: BSD-3-Clause
#include "compose/recipe.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "topology/topology.hpp"

namespace isochrone::core::compose {
namespace {

/// Reads a text from left to right.
class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool take(char expected) {
        if (position_ == text_.size() || text_[position_] != expected) return false;
        ++position_;
        return true;
    }
    void expect(char expected) {
        if (!take(expected)) fail(std::string("expected '") + expected + "'");
    }
    std::string name() {
        const std::size_t begin = position_;
        while (position_ < text_.size() && topology::is_part_of_name(text_[position_])) ++position_;
        if (position_ == begin) fail("expected a name");
        return std::string(text_.substr(begin, position_ - begin));
    }
    std::int64_t number(std::int64_t most) {
        std::int64_t value = 0;
        const char* begin = text_.data() + position_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{} || value < 1 || value > most)
            fail("expected a number from 1 to " + std::to_string(most));
        position_ += static_cast<std::size_t>(end - begin);
        return value;
    }
    void end() const {
        if (position_ != text_.size()) fail("expected the end");
    }
    [[noreturn]] void fail(const std::string& what) const {
        std::string shown(text_.substr(0, 200));
        std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        throw std::invalid_argument("recipe '" + shown + "', character " + std::to_string(position_ + 1) +
                                    ": " + what);
    }

  private:
    std::string_view text_;
    std::size_t position_ = 0;
};

struct NamedOrder {
    std::string_view name;
    Order order;
};

constexpr NamedOrder orders[] = {{"ordered", Order::tree},
                                 {"depth_first", Order::depth_first},
                                 {"breadth_first", Order::breadth_first},
                                 {"longest_first", Order::longest_first}};

Choice read_choice(Reader& reader, std::string name) {
    Choice choice{std::move(name)};
    if (reader.take('/')) choice.parameter = static_cast<int>(reader.number(1'000'000));
    return choice;
}

/// An algorithm, and the order in which ranks take part in it. `first` is the name that it begins with.
Part read_ordered(Reader& reader, std::string level, std::string first) {
    Part part;
    part.level = std::move(level);
    const auto* const found = std::find_if(std::begin(orders), std::end(orders),
                                           [&](const NamedOrder& one) { return one.name == first; });
    if (found == std::end(orders)) {
        part.choice = read_choice(reader, std::move(first));
        return part;
    }
    part.order = found->order;
    reader.expect('(');
    part.choice = read_choice(reader, reader.name());
    reader.expect(')');
    return part;
}

}  // namespace

Recipe parse_recipe(std::string_view text) {
    constexpr std::size_t most_levels = 32;
    Reader reader(text);
    Recipe recipe;
    const std::string first = reader.name();
    if (first == "hierarchical") {
        recipe.kind = Recipe::Kind::hierarchical;
        reader.expect('(');
        do {
            std::string level = reader.name();
            reader.expect('=');
            Part part = recipe.parts.empty()
                            ? read_ordered(reader, std::move(level), reader.name())
                            : Part{std::move(level), Order::ranks, read_choice(reader, reader.name()), {}};
            if (reader.take('+')) part.down = read_choice(reader, reader.name());
            recipe.parts.push_back(std::move(part));
            if (recipe.parts.size() > most_levels) reader.fail("too many levels");
        } while (reader.take(','));
        reader.expect(')');
    } else if (first == native_name) {
        reader.end();
        return recipe;
    } else {
        recipe.kind = Recipe::Kind::flat;
        recipe.parts.push_back(read_ordered(reader, "", first));
    }
    if (reader.take('@')) recipe.segment_bytes = reader.number(std::int64_t{1} << 40);
    reader.end();
    return recipe;
}

std::string to_text(const Choice& choice) {
    return choice.parameter == 0 ? choice.algorithm
                                 : choice.algorithm + "/" + std::to_string(choice.parameter);
}

std::string_view name_of(Order order) {
    const auto* const found = std::find_if(std::begin(orders), std::end(orders),
                                           [&](const NamedOrder& one) { return one.order == order; });
    return found == std::end(orders) ? std::string_view() : found->name;
}

std::string to_text(const Recipe& recipe) {
    if (recipe.kind == Recipe::Kind::native) return std::string(native_name);
    std::string parts;
    for (const Part& part : recipe.parts) {
        if (!parts.empty()) parts += ",";
        if (!part.level.empty()) parts += part.level + "=";
        std::string choice = to_text(part.choice);
        if (const auto order = name_of(part.order); !order.empty())
            choice = std::string(order) + "(" + choice + ")";
        parts += choice;
        if (!part.down.algorithm.empty()) parts += "+" + to_text(part.down);
    }
    if (recipe.kind == Recipe::Kind::hierarchical) parts = "hierarchical(" + parts + ")";
    if (recipe.segment_bytes > 0) parts += "@" + std::to_string(recipe.segment_bytes);
    return parts;
}

}  // namespace isochrone::core::compose
