// SPDX-License-Identifier: BSD-3-Clause
#include "preload/environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace isochrone::mpi::preload {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_on(const char* name) {
    const std::string value = variable(name);
    return !value.empty() && value != "0";
}

bool is_turned_off() {
    const std::string value = variable("ISOCHRONE");
    return value == "off" || value == "0";
}

std::string read_file(const std::string& path, std::string& complaint) {
    constexpr off_t largest = off_t{1} << 28;
    const auto refuse = [&](const std::string& why) {
        if (complaint.empty()) complaint = path + ' ' + why;
        return std::string{};
    };
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return refuse("cannot be read");
    struct stat about {};
    std::string text;
    std::string why;
    if (fstat(file, &about) != 0) {
        why = "cannot be read";
    } else if (!S_ISREG(about.st_mode)) {
        why = "is not a file";
    } else if (about.st_size > largest) {
        why = "is too long";
    } else {
        text.resize(static_cast<std::size_t>(about.st_size));
        std::size_t have = 0;
        while (have < text.size()) {
            const ssize_t got = read(file, text.data() + have, text.size() - have);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            have += static_cast<std::size_t>(got);
        }
        if (have < text.size()) why = "cannot be read";
    }
    close(file);
    return why.empty() ? text : refuse(why);
}

}  // namespace isochrone::mpi::preload
