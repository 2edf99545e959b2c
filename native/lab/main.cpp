// SPDX-License-Identifier: BSD-3-Clause
//
// isochrone-lab: a lab as one process. It becomes the first process of a process namespace, starts the hosts
// in it and then moves their packets, so that when it ends the kernel ends everything that ever ran in the
// lab.
//
//   isochrone-lab [--user-namespace] [--stay] FOLDER
//
// reads FOLDER/description.json, shows FOLDER/hosts to the hosts as /etc/hosts, and returns when all are up;
// with
// --stay it prints "up" then, and the lab ends with it.
// FOLDER/processes then has a line for each host, its name and the process that holds its namespaces, as
// numbered inside the lab. Whoever connects to the Unix socket FOLDER/status is sent the counters as one line
// of JSON; the peer of the socket is the lab's process, and SIGKILL ends it. Until it is up it ends with its
// starter.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "description.hpp"
#include "host.hpp"
#include "relay.hpp"

namespace isochrone::lab {

namespace {

struct Arguments {
    bool user_namespace = false;
    bool stay = false;
    std::string folder;
};

void require(bool done, const std::string& what) {
    if (!done) throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    require(file.good(), path + " cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    require(file.good(), path + " cannot be written");
}

/// The rights of root over namespaces, and over nothing else.
void become_root_of_user_namespace() {
    const std::string user = std::to_string(geteuid());
    const std::string group = std::to_string(getegid());
    require(unshare(CLONE_NEWUSER) == 0, "a user namespace cannot be made");
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 " + user + " 1");
    write_file("/proc/self/gid_map", "0 " + group + " 1");
}

int listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + ": too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int status = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    require(status >= 0, "a socket cannot be made");
    require(bind(status, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
            path + " cannot be made");
    require(listen(status, 16) == 0, path + " cannot be listened at");
    return status;
}

/// Packets must move on time whatever the ranks do. Without the right to it they are a little late at times.
void take_precedence() {
    prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param priority{};
    priority.sched_priority = 10;
    (void)sched_setscheduler(0, SCHED_FIFO, &priority);
    (void)mlockall(MCL_CURRENT);
}

void into_background() {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    require(null >= 0, "/dev/null cannot be opened");
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
    close(null);
    setsid();
}

[[noreturn]] void be_lab(const Arguments& arguments, const Description& description, int tell) {
    // Whoever the hosts' processes leave behind is waited for by the kernel.
    std::signal(SIGCHLD, SIG_IGN);
    require(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mounts cannot be made private");
    require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0,
            "/proc cannot be mounted");
    const std::string names = arguments.folder + "/hosts";
    require(mount(names.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0,
            "/etc/hosts cannot be covered");
    std::vector<Host> hosts;
    std::string processes;
    for (int number = 0; number < static_cast<int>(description.hosts.size()); ++number) {
        hosts.push_back(start_host(description.hosts, number));
        processes += description.hosts[number].name + " " + std::to_string(hosts.back().process) + "\n";
    }
    write_file(arguments.folder + "/processes", processes);
    Relay relay(Network(description.nodes), std::move(hosts), listen_at(arguments.folder + "/status"));
    into_background();
    take_precedence();
    if (!arguments.stay) prctl(PR_SET_PDEATHSIG, 0);
    // A starter that is gone left before its end could be told to us; the first process of a namespace is not
    // ended by SIGPIPE.
    if (write(tell, "+", 1) != 1) _exit(1);
    close(tell);
    relay.run();
}

void start(const Arguments& arguments) {
    const std::string path = arguments.folder + "/description.json";
    const Description description = parse_description(read_file(path));
    if (arguments.user_namespace) become_root_of_user_namespace();
    require(unshare(CLONE_NEWPID | CLONE_NEWNS) == 0, "namespaces for the lab cannot be made");
    int channel[2];
    require(pipe2(channel, O_CLOEXEC) == 0, "a pipe cannot be made");
    const pid_t lab = fork();
    require(lab >= 0, "a process cannot be made");
    if (lab == 0) {
        close(channel[0]);
        try {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            be_lab(arguments, description, channel[1]);
        } catch (const std::exception& error) {
            const std::string text = error.what();
            (void)!write(channel[1], text.data(), text.size());
        }
        _exit(1);
    }
    close(channel[1]);
    std::string said;
    char part[512];
    for (ssize_t bytes = 0; (bytes = read(channel[0], part, sizeof part)) > 0;) said.append(part, bytes);
    if (said == "+") {
        if (!arguments.stay) return;
        std::cout << "up" << std::endl;
        waitpid(lab, nullptr, 0);
        throw std::runtime_error("the lab ended");
    }
    kill(lab, SIGKILL);
    waitpid(lab, nullptr, 0);
    throw std::runtime_error(said.empty() ? "the lab ended while it was starting" : said);
}

}  // namespace

}  // namespace isochrone::lab

int main(int count, char** words) {
    isochrone::lab::Arguments arguments;
    bool understood = true;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--user-namespace") {
            arguments.user_namespace = true;
        } else if (word == "--stay") {
            arguments.stay = true;
        } else {
            understood = understood && arguments.folder.empty() && !word.starts_with("-");
            arguments.folder = word;
        }
    }
    if (!understood || arguments.folder.empty()) {
        std::cerr << "usage: isochrone-lab [--user-namespace] [--stay] FOLDER\n";
        return 2;
    }
    try {
        isochrone::lab::start(arguments);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "isochrone-lab: " << error.what() << '\n';
        return 1;
    }
}
