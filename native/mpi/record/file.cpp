// SPDX-License-Identifier: BSD-3-Clause
#include "record/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "comm/json.hpp"
#include "comm/library.hpp"

namespace isochrone::mpi::record {

std::string runs_of(const std::vector<int>& ranks) {
    std::string text = "[";
    for (std::size_t at = 0; at < ranks.size();) {
        std::size_t end = at + 1;
        const int step = end < ranks.size() ? ranks[end] - ranks[at] : 1;
        while (end < ranks.size() && ranks[end] - ranks[end - 1] == step) ++end;
        text += (at > 0 ? ",[" : "[") + std::to_string(ranks[at]) + ',' + std::to_string(end - at) + ',' +
                std::to_string(step) + ']';
        at = end;
    }
    return text + ']';
}

std::string provenance() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    std::vector<const char*> pointers;
    for (const auto& word : words) pointers.push_back(word.c_str());
    return comm::json_line(comm::provenance_json(static_cast<int>(pointers.size()), pointers.data()));
}

namespace {

/// What is written piece by piece: a record may be larger than the memory for a second one.
class Output {
  public:
    explicit Output(std::FILE* file) : file_(file) {}
    void text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_); }

    /// "name": [a, b, ...] of something of each item.
    template <class Items, class Value>
    void column(const char* name, const Items& items, Value&& value) {
        text(std::string("\"") + name + "\":[");
        bool first = true;
        for (const auto& item : items) {
            if (!first) text(",");
            first = false;
            text(value(item));
        }
        text("]");
    }

  private:
    std::FILE* file_;
};

std::string name_of(std::int64_t collective) {
    const auto name = core::collectives::all()[static_cast<std::size_t>(collective)].name;
    return '"' + std::string(name) + '"';
}

void write_rows(Output& out, const std::vector<Row>& rows, bool of_collectives) {
    const auto column = [&](const char* name, std::int64_t Row::*field) {
        out.column(name, rows, [&](const Row& row) { return std::to_string(row.*field); });
    };
    out.text("{");
    column("phase", &Row::phase);
    if (of_collectives) {
        out.text(",");
        out.column("collective", rows, [](const Row& row) { return name_of(row.collective); });
    }
    for (const auto& [name, field] :
         {std::pair{"source", &Row::source}, std::pair{"target", &Row::target},
          std::pair{"messages", &Row::messages}, std::pair{"bytes", &Row::bytes}}) {
        out.text(",");
        column(name, field);
    }
    out.text("}");
}

void write_calls(Output& out, const std::vector<Calls>& calls) {
    const auto column = [&](const char* name, std::int64_t Calls::*field) {
        out.column(name, calls, [&](const Calls& call) { return std::to_string(call.*field); });
    };
    out.text("{");
    column("phase", &Calls::phase);
    out.text(",");
    out.column("collective", calls, [](const Calls& call) { return name_of(call.collective); });
    for (const auto& [name, field] : {std::pair{"group", &Calls::group}, std::pair{"root", &Calls::root},
                                      std::pair{"calls", &Calls::calls}, std::pair{"bytes", &Calls::bytes}}) {
        out.text(",");
        column(name, field);
    }
    out.text("}");
}

void write_all(Output& out, const Record& record, const std::vector<comm::Place>& places) {
    std::vector<Row> own;
    std::vector<Row> pieces;
    for (const Row& row : record.rows) (row.collective < 0 ? own : pieces).push_back(row);
    out.text("{\"isochrone\":\"graph\",\"schema_version\":1,\"ranks\":" + std::to_string(places.size()));
    out.text(",\n\"seconds\":" + comm::json_line(record.seconds));
    out.text(",\n\"mpi\":" + comm::json_line(comm::library_json(comm::library_identity())));
    out.text(",\n\"places\":" + comm::json_line(comm::places_json(places)));
    out.text(",\n\"rows\":");
    write_rows(out, own, false);
    out.text(",\n\"pieces\":");
    write_rows(out, pieces, true);
    out.text(",\n");
    out.column("groups", record.groups, runs_of);
    out.text(",\n\"collectives\":");
    write_calls(out, record.calls);
    out.text(",\n\"provenance\":" + provenance() + "}\n");
}

}  // namespace

std::string unfinished(const std::string& path) { return path + ".part"; }

std::string write_whole(const std::string& path, const std::function<void(std::FILE*)>& fill) {
    const auto failed = [&](const char* what) {
        return path + ": cannot " + what + " (" + std::strerror(errno) + ')';
    };
    const std::string part = unfinished(path);
    std::FILE* const file = std::fopen(part.c_str(), "w");
    if (file == nullptr) return failed("write");
    fill(file);
    const bool is_whole = std::ferror(file) == 0;
    if (std::fclose(file) != 0 || !is_whole) {
        const std::string why = failed("write");
        std::remove(part.c_str());
        return why;
    }
    if (std::rename(part.c_str(), path.c_str()) != 0) return failed("move it to its place");
    return {};
}

std::string write(const std::string& path, const Record& record, const std::vector<comm::Place>& places) {
    return write_whole(path, [&](std::FILE* file) {
        Output out(file);
        write_all(out, record, places);
    });
}

}  // namespace isochrone::mpi::record
