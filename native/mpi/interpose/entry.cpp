// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that the preloaded library takes the place of, under both of their names. A Fortran
// binding may call either, and so does a profiler that stands in front. MPI is started, and communicators are
// freed, through the next library's function of the same name, which may be a profiler's; all else goes to
// the MPI library itself.
//
// No MPI header here, see call.hpp.
#include <cstdint>

#include "interpose/runtime.hpp"
#include "preload/next.hpp"

namespace {

using namespace isochrone::mpi::interpose;
using isochrone::mpi::preload::Next;

/// How deep this thread is in functions that start MPI: the outermost of ours, through which a profiler may
/// have come, opens the session.
thread_local int depth = 0;

template <class Start>
int start(Start&& library) {
    ++depth;
    const int code = library();
    if (--depth == 0 && code == 0) started();
    return code;
}

}  // namespace

#define START(name, parameters, arguments)                      \
    EXPORT int name parameters {                                \
        static constinit Next<int parameters> next(TEXT(name)); \
        return start([&] { return next() arguments; });         \
    }
START(MPI_Init, (int* argc, char*** argv), (argc, argv))
START(PMPI_Init, (int* argc, char*** argv), (argc, argv))
START(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
      (argc, argv, required, provided))
START(PMPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
      (argc, argv, required, provided))

#define FREE(name)                                     \
    EXPORT int name(void* comm) {                      \
        static constinit Next<int(void*)> next(#name); \
        leaving(comm);                                 \
        return next()(comm);                           \
    }
FREE(MPI_Comm_free)
FREE(PMPI_Comm_free)
FREE(MPI_Comm_disconnect)
FREE(PMPI_Comm_disconnect)

#define ISOCHRONE_FUNCTION(name, ours, parameters, arguments, ...)                       \
    EXPORT int NAMED(PMPI_, name, SUFFIX) parameters {                                   \
        static constinit Next<int parameters> next(TEXT(NAMED(PMPI_, name, SUFFIX)));    \
        static const auto& collective = isochrone::core::collectives::named(TEXT(ours)); \
        int code = 0;                                                                    \
        Call call{.collective = &collective, __VA_ARGS__};                               \
        call.large = sizeof(COUNT) > sizeof(int);                                        \
        Unfinished unfinished;                                                           \
        if (improve(call, code, unfinished)) return code;                                \
        code = next() arguments;                                                         \
        return unfinished.kind == nullptr ? code : finish(call, unfinished, code);       \
    }                                                                                    \
    EXPORT int NAMED(MPI_, name, SUFFIX)                                                 \
    parameters __attribute__((alias(TEXT(NAMED(PMPI_, name, SUFFIX)))));

#define COUNT int
#define DISPLACEMENT int
#define SUFFIX
#include "interpose/functions.inc"
#ifdef ISOCHRONE_LARGE_COUNTS
#undef COUNT
#undef DISPLACEMENT
#undef SUFFIX
#define COUNT std::int64_t
#define DISPLACEMENT std::intptr_t
#define SUFFIX _c
#define LARGE_COUNTS
#include "interpose/functions.inc"
#endif
