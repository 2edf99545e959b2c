// SPDX-License-Identifier: BSD-3-Clause
#include "probe/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "comm/json.hpp"
#include "comm/program.hpp"

namespace isochrone::mpi::probe {

using comm::Failure;

Output::Output(std::string path, const nlohmann::ordered_json& header)
    : path_(std::move(path)), resume_(header.at("ranks").get<int>()) {
    open();
    struct stat status {};
    if (fstat(fileno(file_.get()), &status) == 0 && S_ISREG(status.st_mode)) {
        resume_ = read_measurements(file_.get(), path_, header);
        if (std::fseek(file_.get(), static_cast<long>(resume_.valid_bytes), SEEK_SET) != 0 ||
            ftruncate(fileno(file_.get()), static_cast<off_t>(resume_.valid_bytes)) != 0) {
            refuse("cut off the damaged end of", "choose another --output");
        }
    }
    if (!resume_.has_header) append(comm::json_line(header) + '\n');
}

void Output::append(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!written || std::fflush(file_.get()) != 0) {
        refuse("write", "make room and run the same command again to go on from here");
    }
}

void Output::open() {
    struct stat status {};
    const bool special = stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    const int descriptor = ::open(path_.c_str(), (special ? O_WRONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
    if (descriptor < 0) refuse("write", "choose another --output");
    file_.reset(fdopen(descriptor, special ? "w" : "r+"));
    if (!file_) {
        close(descriptor);
        refuse("write", "choose another --output");
    }
    // Some file systems have no locks; only a lock that another process holds is a reason to stop.
    if (!special && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw Failure(comm::failure,
                      path_ + ": another probe is writing this file: wait for it or choose another --output");
    }
}

void Output::refuse(const char* verb, const char* todo) const {
    throw Failure(comm::failure,
                  std::string("cannot ") + verb + ' ' + path_ + ": " + std::strerror(errno) + ": " + todo);
}

}  // namespace isochrone::mpi::probe
