// SPDX-License-Identifier: BSD-3-Clause
//
// libisochrone_record: a preload that counts what the ranks of a program send one another. It takes the place
// of the MPI functions that send, under both of their names (see interpose/functions.inc for why both), calls
// the library behind with the very arguments that it was given, and counts what has succeeded.
//
// No MPI header here, see interpose/call.hpp.
#include <cstdarg>
#include <cstdint>

#include "preload/next.hpp"
#include "record/runtime.hpp"

namespace {

using namespace isochrone::mpi::record;
using isochrone::mpi::preload::Next;

}  // namespace

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define OPEN(...) __VA_ARGS__
#define ALSO(list, ...) (OPEN list, __VA_ARGS__)

#define START(name, parameters, arguments)                      \
    EXPORT int name parameters {                                \
        static constinit Next<int parameters> next(TEXT(name)); \
        const Inside inside(CALLER);                            \
        const int code = next() arguments;                      \
        if (inside.is_outermost() && code == 0) started();      \
        return code;                                            \
    }
START(MPI_Init, (int* argc, char*** argv), (argc, argv))
START(PMPI_Init, (int* argc, char*** argv), (argc, argv))
START(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
      (argc, argv, required, provided))
START(PMPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
      (argc, argv, required, provided))

#define END(name)                                 \
    EXPORT int name() {                           \
        static constinit Next<int()> next(#name); \
        const Inside inside(CALLER);              \
        if (inside.is_outermost()) ending();      \
        return next()();                          \
    }
END(MPI_Finalize)
END(PMPI_Finalize)

// What follows the level is for tools behind this one, none of which can be told of it: nobody knows its
// length.
#define CONTROL(name)                                     \
    EXPORT int name(int level, ...) {                     \
        static constinit Next<int(int, ...)> next(#name); \
        const Inside inside(CALLER);                      \
        if (inside.is_outermost()) phase(level);          \
        return next()(level);                             \
    }
CONTROL(MPI_Pcontrol)
CONTROL(PMPI_Pcontrol)

/// A function and its other name; `after` is done where the program's own call has succeeded.
#define WRAP(name, parameters, arguments, after)                                      \
    EXPORT int NAMED(PMPI_, name, SUFFIX) parameters {                                \
        static constinit Next<int parameters> next(TEXT(NAMED(PMPI_, name, SUFFIX))); \
        const Inside inside(CALLER);                                                  \
        const int code = next() arguments;                                            \
        if (code == 0 && inside.counts()) after;                                      \
        return code;                                                                  \
    }                                                                                 \
    EXPORT int NAMED(MPI_, name, SUFFIX)                                              \
    parameters __attribute__((alias(TEXT(NAMED(PMPI_, name, SUFFIX)))));

/// A blocking collective.
#define WRAP_TIMED(name, parameters, arguments, call)                                 \
    EXPORT int NAMED(PMPI_, name, SUFFIX) parameters {                                \
        static constinit Next<int parameters> next(TEXT(NAMED(PMPI_, name, SUFFIX))); \
        const Inside inside(CALLER);                                                  \
        const double begin_s = begins(inside);                                        \
        const int code = next() arguments;                                            \
        if (code == 0 && inside.counts()) collective_called(call, begin_s);           \
        return code;                                                                  \
    }                                                                                 \
    EXPORT int NAMED(MPI_, name, SUFFIX)                                              \
    parameters __attribute__((alias(TEXT(NAMED(PMPI_, name, SUFFIX)))));

/// Requests are remembered in phases that are not recorded too: they may be started later.
#define WRAP_PERSISTENT(name, parameters, arguments, after)                           \
    EXPORT int NAMED(PMPI_, name, SUFFIX) parameters {                                \
        static constinit Next<int parameters> next(TEXT(NAMED(PMPI_, name, SUFFIX))); \
        const Inside inside(CALLER);                                                  \
        const int code = next() arguments;                                            \
        if (code == 0 && inside.is_outermost()) after;                                \
        return code;                                                                  \
    }                                                                                 \
    EXPORT int NAMED(MPI_, name, SUFFIX)                                              \
    parameters __attribute__((alias(TEXT(NAMED(PMPI_, name, SUFFIX)))));

#define ISOCHRONE_MESSAGE(name, parameters, arguments, ...) \
    WRAP(name, parameters, arguments, message_sent({__VA_ARGS__}))
#define ISOCHRONE_PERSISTENT(name, parameters, arguments, ...) \
    WRAP_PERSISTENT(name, parameters, arguments, prepared(Message{__VA_ARGS__}, request))

#define CALL(ours, ...)                                                              \
    Call {                                                                           \
        .collective = &isochrone::core::collectives::named(TEXT(ours)), __VA_ARGS__, \
        .large = sizeof(COUNT) > sizeof(int)                                         \
    }
#define EXCHANGE(...) \
    Call { __VA_ARGS__, .large = sizeof(COUNT) > sizeof(int) }

/// Each collective is there three times: blocking, with a request, and to be started.
#define ISOCHRONE_FUNCTION(name, ours, parameters, arguments, ...)                    \
    WRAP_TIMED(name, parameters, arguments, CALL(ours, __VA_ARGS__))                  \
    WRAP(NAMED(I, ours, ), ALSO(parameters, void* request), ALSO(arguments, request), \
         collective_begun(CALL(ours, __VA_ARGS__)))                                   \
    WRAP_PERSISTENT(NAMED(name, _init, ), ALSO(parameters, Word info, void* request), \
                    ALSO(arguments, info, request), prepared(CALL(ours, __VA_ARGS__), request))
#define ISOCHRONE_NEIGHBOURS(name, ours, parameters, arguments, ...)                  \
    WRAP(name, parameters, arguments, neighbours_called(EXCHANGE(__VA_ARGS__)))       \
    WRAP(NAMED(I, ours, ), ALSO(parameters, void* request), ALSO(arguments, request), \
         neighbours_called(EXCHANGE(__VA_ARGS__)))                                    \
    WRAP_PERSISTENT(NAMED(name, _init, ), ALSO(parameters, Word info, void* request), \
                    ALSO(arguments, info, request), prepared_exchange(EXCHANGE(__VA_ARGS__), request))

#define COUNT int
#define DISPLACEMENT int
#define SUFFIX
#include "interpose/functions.inc"
#include "record/functions.inc"
#include "record/neighbours.inc"
#ifdef ISOCHRONE_LARGE_COUNTS
#undef COUNT
#undef DISPLACEMENT
#undef SUFFIX
#define COUNT std::int64_t
#define DISPLACEMENT std::intptr_t
#define SUFFIX _c
#define LARGE_COUNTS
#include "interpose/functions.inc"
#include "record/functions.inc"
#include "record/neighbours.inc"
#endif

#undef SUFFIX
#define SUFFIX
WRAP(Start, (void* request), (request), start(1, request))
WRAP(Startall, (int count, void* requests), (count, requests), start(count, requests))

// Before it is freed: afterwards another may have its handle.
EXPORT int PMPI_Request_free(void* request) {
    static constinit Next<int(void*)> next("PMPI_Request_free");
    const Inside inside(CALLER);
    if (inside.is_outermost()) forget(request);
    return next()(request);
}
EXPORT int MPI_Request_free(void* request) __attribute__((alias("PMPI_Request_free")));
