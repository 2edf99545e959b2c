// SPDX-License-Identifier: BSD-3-Clause
//
// What libraries that are preloaded share: how they take the place of a function and reach the one behind it.
// No MPI header here: the program may turn out to be another library's.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace isochrone::mpi::preload {

/// A function of the libraries that the loader has after this one.
template <class Function>
class Next {
  public:
    explicit constexpr Next(const char* name) : name_(name) {}
    Function* operator()() {
        Function* known = function_.load(std::memory_order_relaxed);
        return known != nullptr ? known : find();
    }

  private:
    Function* find() {
        auto* found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
        if (found == nullptr) {
            std::fprintf(stderr, "isochrone: no MPI library with %s is loaded after this preload\n", name_);
            std::abort();
        }
        function_.store(found, std::memory_order_relaxed);
        return found;
    }
    const char* name_;
    std::atomic<Function*> function_ = nullptr;
};

}  // namespace isochrone::mpi::preload

#define EXPORT extern "C" __attribute__((visibility("default")))
#define NAMED(prefix, name, suffix) NAMED_(prefix, name, suffix)
#define NAMED_(prefix, name, suffix) prefix##name##suffix
#define TEXT(name) TEXT_(name)
#define TEXT_(name) #name
