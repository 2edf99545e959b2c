// SPDX-License-Identifier: BSD-3-Clause
//
// libisochrone_reorder: a preload in which the ranks of MPI_COMM_WORLD are those that a mapping says. It
// takes the place of all functions that are given a communicator, under both of their names (see
// interpose/functions.inc for why both). Where the program names MPI_COMM_WORLD, the library behind gets the
// communicator in its place. So nothing has to be told from what the library calls itself: of any other
// communicator these functions change nothing. Those that make a topology and may reorder its ranks do so.
//
// No MPI header here, see interpose/call.hpp: all that is passed on are words.
#include "preload/next.hpp"
#include "reorder/topologies.hpp"
#include "reorder/world.hpp"

namespace {

using namespace isochrone::mpi::reorder;
using isochrone::mpi::preload::Next;

/// How deep this thread is in functions that start MPI: the outermost goes on when all others are ready.
thread_local int depth = 0;

template <class Start>
int start(Start&& library) {
    ++depth;
    const int code = library();
    if (--depth == 0 && code == 0) started();
    return code;
}

/// Whether a communicator has an attribute.
bool has_attribute(Word comm, Word key) {
    static constinit Next<int(Word, Word, void*, int*)> next("PMPI_Comm_get_attr");
    void* value = nullptr;
    int found = 0;
    return next()(comm, key, static_cast<void*>(&value), &found) == 0 && found != 0;
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

#define EACH(macro, name) macro(MPI_##name) macro(PMPI_##name)

// What MPI itself says of the world (MPI_TAG_UB and its like) is on the library's own, and some libraries
// hand it down to duplicates. So are the attributes that Fortran programs set: their bindings go into the
// library by ways of its own.
#define GET_ATTRIBUTE(name)                                                                         \
    EXPORT int name(Word comm, Word key, void* value, int* found) {                                 \
        static constinit Next<int(Word, Word, void*, int*)> next(#name);                            \
        const int code = next()(meant(comm), key, value, found);                                    \
        const Word world = replaced;                                                                \
        if (code != 0 || *found != 0 || world == none) return code;                                 \
        return meant(comm) != comm || is_predefined(key) ? next()(world, key, value, found) : code; \
    }
EACH(GET_ATTRIBUTE, Comm_get_attr)
EACH(GET_ATTRIBUTE, Attr_get)

#define DELETE_ATTRIBUTE(name)                                                                   \
    EXPORT int name(Word comm, Word key) {                                                       \
        static constinit Next<int(Word, Word)> next(#name);                                      \
        if (meant(comm) != comm && !has_attribute(meant(comm), key) && has_attribute(comm, key)) \
            return next()(comm, key);                                                            \
        return next()(meant(comm), key);                                                         \
    }
EACH(DELETE_ATTRIBUTE, Comm_delete_attr)
EACH(DELETE_ATTRIBUTE, Attr_delete)

// Errors of calls that have no communicator are the library's world's.
#define SET_ERRHANDLER(name)                                                       \
    EXPORT int name(Word comm, Word errhandler) {                                  \
        static constinit Next<int(Word, Word)> next(#name);                        \
        const int code = next()(meant(comm), errhandler);                          \
        return code != 0 || meant(comm) == comm ? code : next()(comm, errhandler); \
    }
EACH(SET_ERRHANDLER, Comm_set_errhandler)
EACH(SET_ERRHANDLER, Errhandler_set)

#define CART_CREATE(name)                                                                            \
    EXPORT int name(Word comm, int count, const int* dimensions, const int* periods, int reorder,    \
                    void* made) {                                                                    \
        static constinit Next<int(Word, int, const int*, const int*, int, void*)> next(#name);       \
        return make_grid(meant(comm), count, dimensions, periods, reorder, [&](Word of, int again) { \
            return next()(of, count, dimensions, periods, again, made);                              \
        });                                                                                          \
    }
EACH(CART_CREATE, Cart_create)

#define GRAPH_CREATE(name)                                                                                   \
    EXPORT int name(Word comm, int nodes, const int* index, const int* edges, int reorder, void* made) {     \
        static constinit Next<int(Word, int, const int*, const int*, int, void*)> next(#name);               \
        return make_graph(meant(comm), nodes, index, edges, reorder,                                         \
                          [&](Word of, int again) { return next()(of, nodes, index, edges, again, made); }); \
    }
EACH(GRAPH_CREATE, Graph_create)

#define DIST_GRAPH_CREATE(name)                                                                           \
    EXPORT int name(Word comm, int count, const int* nodes, const int* degrees, const int* destinations,  \
                    const int* weights, Word info, int reorder, void* made) {                             \
        static constinit Next<int(Word, int, const int*, const int*, const int*, const int*, Word, int,   \
                                  void*)>                                                                 \
            next(#name);                                                                                  \
        return make_edges(                                                                                \
            meant(comm), count, nodes, degrees, destinations, weights, reorder, [&](Word of, int again) { \
                return next()(of, count, nodes, degrees, destinations, weights, info, again, made);       \
            });                                                                                           \
    }
EACH(DIST_GRAPH_CREATE, Dist_graph_create)

#define DIST_GRAPH_CREATE_ADJACENT(name)                                                                     \
    EXPORT int name(Word comm, int sources, const int* source, const int* source_weights, int destinations,  \
                    const int* destination, const int* destination_weights, Word info, int reorder,          \
                    void* made) {                                                                            \
        static constinit Next<int(Word, int, const int*, const int*, int, const int*, const int*, Word, int, \
                                  void*)>                                                                    \
            next(#name);                                                                                     \
        return make_adjacent(meant(comm), {sources, source, source_weights},                                 \
                             {destinations, destination, destination_weights}, reorder,                      \
                             [&](Word of, const Neighbours& in, const Neighbours& out, int again) {          \
                                 return next()(of, in.count, in.ranks, in.weights, out.count, out.ranks,     \
                                               out.weights, info, again, made);                              \
                             });                                                                             \
    }
EACH(DIST_GRAPH_CREATE_ADJACENT, Dist_graph_create_adjacent)

#define ISOCHRONE_COMMUNICATOR(name, parameters, arguments)     \
    EXPORT int name parameters {                                \
        static constinit Next<int parameters> next(TEXT(name)); \
        return next() arguments;                                \
    }
#define FUNCTION(name, parameters, arguments)           \
    ISOCHRONE_COMMUNICATOR(name, parameters, arguments) \
    ISOCHRONE_COMMUNICATOR(P##name, parameters, arguments)
// Headers without it: Open MPI's Fortran binding calls it all the same.
FUNCTION(MPI_Errhandler_get, (Word comm, Word errhandler), (meant(comm), errhandler))
#include "communicators.inc"
