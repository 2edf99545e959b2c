// SPDX-License-Identifier: BSD-3-Clause
#include "comm/library.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/check.hpp"

#ifndef ISOCHRONE_SMPI
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#endif

namespace isochrone::mpi::comm {

namespace {

#ifdef ISOCHRONE_SMPI

std::string abi() { return "smpi"; }

#else

struct Search {
    ElfW(Addr) address = 0;
    std::string soname;
};

std::string soname_of(const dl_phdr_info& object) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object.dlpi_phdr[i];
        if (header.p_type != PT_DYNAMIC) continue;
        ElfW(Addr) strings = 0;
        ElfW(Xword) name = 0;
        bool named = false;
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
            if (entry->d_tag == DT_SONAME) {
                name = entry->d_un.d_val;
                named = true;
            }
        }
        // Some loaders (musl's, and glibc's on MIPS and RISC-V) leave the address relative to the object.
        if (strings < object.dlpi_addr) strings += object.dlpi_addr;
        if (named) return reinterpret_cast<const char*>(strings + name);
    }
    return {};
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = object->dlpi_phdr[i];
        const ElfW(Addr) start = object->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && search.address >= start && search.address - start < header.p_memsz) {
            search.soname = soname_of(*object);
            return 1;
        }
    }
    return 0;
}

std::string abi() {
    // The profiling name, because a preloaded tool may own the plain one.
    Search search;
    search.address = reinterpret_cast<ElfW(Addr)>(dlsym(RTLD_DEFAULT, "PMPI_Get_library_version"));
    if (search.address != 0) dl_iterate_phdr(visit, &search);
    return search.soname.empty() ? "static" : search.soname;
}

#endif

}  // namespace

Library library_identity() {
    // The library may be another than this code was compiled for, and more talkative: MPICH takes 8192.
    constexpr std::size_t most = std::max<std::size_t>(MPI_MAX_LIBRARY_VERSION_STRING, 1 << 14);
    std::vector<char> text(most + 1, '\0');
    int length = 0;
    check(PMPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    int major = 0;
    int minor = 0;
    check(PMPI_Get_version(&major, &minor), "MPI_Get_version");
    std::string name(text.data());
    name = name.substr(0, name.find_first_of("\r\n"));
    // MPICH separates label and value by a tab.
    for (char& c : name) {
        if (c == '\t') c = ' ';
    }
    return {name, std::to_string(major) + '.' + std::to_string(minor), abi()};
}

}  // namespace isochrone::mpi::comm
