// SPDX-License-Identifier: BSD-3-Clause
#include "comm/place.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/hardware.hpp"

namespace isochrone::mpi::comm {

namespace {

/// One text for each rank, so that places cost one exchange: the parts cannot hold the separator, a control
/// character.
constexpr char separator = '\x1f';

constexpr char machine_mark = '~';

/// So many letters of a boot id tell the machines of a job apart, and can be read.
constexpr std::size_t boot_letters = 8;

std::string processor_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
    int length = 0;
    check(PMPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
    return name.data();
}

#ifdef ISOCHRONE_SMPI

Place local_place() {
    std::string name = processor_name();
    const std::size_t mark = name.rfind(".c");
    if (mark == std::string::npos || !parse_cpu_list(name.substr(mark + 2))) return {name, "", "simulated"};
    return {name.substr(0, mark), name.substr(mark + 2), "simulated"};
}

#else

Place local_place() {
    const std::vector<int> cpus = allowed_cpus();
    // The kernel's mask may name CPUs that are switched off, so that equality with the online ones is not the
    // question.
    const std::vector<int> online = online_cpus();
    const bool bound = !std::includes(cpus.begin(), cpus.end(), online.begin(), online.end());
    return {processor_name(), bound ? format_cpu_list(cpus) : std::string{}, hardware_signature()};
}

#endif

/// The texts of all ranks, on all ranks: gathered by rank 0 and broadcast, which costs less than an
/// all-gather where that is made of one message from each rank to each (SimGrid's own).
std::vector<std::string> all_gather_texts(MPI_Comm comm, const std::string& text) {
    const auto size = static_cast<std::size_t>(size_of(comm));
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(size);
    check(PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
    check(PMPI_Bcast(lengths.data(), static_cast<int>(size), MPI_INT, 0, comm), "MPI_Bcast");
    std::vector<int> offsets(size);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    const int total = offsets.back() + lengths.back();
    std::string all(static_cast<std::size_t>(total), '\0');
    check(PMPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                       comm),
          "MPI_Gatherv");
    check(PMPI_Bcast(all.data(), total, MPI_CHAR, 0, comm), "MPI_Bcast");
    std::vector<std::string> texts(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        texts[rank] =
            all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank]));
    }
    return texts;
}

}  // namespace

std::vector<std::string> short_host_names(const std::vector<std::string>& names) {
    const auto shorten = [](const std::string& name) {
        const bool address = name.find_first_not_of("0123456789.") == std::string::npos;
        return address ? name : name.substr(0, name.find('.'));
    };
    std::map<std::string, std::set<std::string>> full_names;
    for (const std::string& name : names) full_names[shorten(name)].insert(name);
    std::vector<std::string> result;
    result.reserve(names.size());
    for (const std::string& name : names) {
        const std::string cut = shorten(name);
        result.push_back(cut.empty() || full_names[cut].size() > 1 ? name : cut);
    }
    return result;
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    return id;
}

std::string place_text(std::size_t longest) {
    Place place = local_place();
#ifdef ISOCHRONE_SMPI
    const std::string machine;
#else
    const std::string machine = boot_id().substr(0, boot_letters);
#endif
    std::string text = place_text(place, machine);
    if (text.size() <= longest) return text;
    place.cpus.clear();
    return place_text(place, machine);
}

std::string place_text(const Place& place, const std::string& machine) {
    return place.host + separator + place.cpus + separator + place.signature + separator + machine;
}

std::vector<Place> places_of(const std::vector<std::string>& texts) {
    std::vector<Place> places;
    std::vector<std::string> hosts;
    std::vector<std::string> machines;
    for (const std::string& text : texts) {
        const std::size_t first = text.find(separator);
        const std::size_t second = text.find(separator, first + 1);
        const std::size_t third = text.find(separator, second + 1);
        hosts.push_back(text.substr(0, first));
        places.push_back(
            {"", text.substr(first + 1, second - first - 1), text.substr(second + 1, third - second - 1)});
        machines.push_back(text.substr(third + 1));
    }
#ifndef ISOCHRONE_SMPI
    hosts = short_host_names(hosts);
#endif
    std::map<std::string, std::set<std::string>> machines_of;
    for (std::size_t rank = 0; rank < places.size(); ++rank) machines_of[hosts[rank]].insert(machines[rank]);
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        places[rank].host = hosts[rank];
        if (machines_of[hosts[rank]].size() > 1) places[rank].host += machine_mark + machines[rank];
    }
    return places;
}

std::vector<Place> gather_places(MPI_Comm comm) {
    return places_of(all_gather_texts(comm, place_text(std::string::npos)));
}

}  // namespace isochrone::mpi::comm
