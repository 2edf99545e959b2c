// SPDX-License-Identifier: BSD-3-Clause
//
// Routes through an InfiniBand fabric: where the forwarding tables of its switches send a packet. A packet to
// a LID is moved by each switch to the port that its linear forwarding table has for that LID (InfiniBand
// Architecture Specification, volume 1, section 18.2.4.3), so the switches on the way to one LID make a tree
// unless a table is wrong. All pairs are found a destination at a time along it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::core::fabric {

/// No such port, vertex or entry.
inline constexpr std::int32_t none = -1;
inline constexpr std::uint8_t no_port = 255;
inline constexpr std::uint16_t unreachable = 65535;

/// The cables and tables of a fabric. Vertices are the switches, 0 to switches - 1, and behind them the ends:
/// ports of channel adapters and routers.
struct Wiring {
    int switches = 0;
    int ports = 0;                   ///< columns of a switch's row: one more than its highest port
    int lids = 0;                    ///< columns of a table: one more than the highest LID of all tables
    std::vector<std::int32_t> peer;  ///< [switch][port], the vertex at the other end of the cable, or none
    std::vector<std::uint8_t> peer_port;  ///< [switch][port], its port there
    std::vector<float> rate;              ///< [switch][port], Gb/s of data; 0: not known
    std::vector<std::uint8_t> out;        ///< [switch][lid], the port that the table has, or no_port
    std::vector<std::int32_t> lid;        ///< [vertex], base LID; 0: has none
    std::vector<std::uint8_t> lmc;        ///< [vertex], 2^lmc LIDs follow one another
    std::vector<std::int32_t> above;      ///< [end], the vertex its cable goes to, or none
    std::vector<std::uint8_t> above_port;
    std::vector<float> above_rate;  ///< [end], Gb/s; 0: not known

    [[nodiscard]] int ends() const { return static_cast<int>(above.size()); }
};

/// How a route ends.
enum class Ending : std::uint8_t {
    arrived,
    no_cable,   ///< the source or the destination has no cable, or no LID
    dead_end,   ///< a table has no entry, or one for a port without a cable
    loop,       ///< a switch is passed twice
    elsewhere,  ///< it leaves the switches at another end, or stays in one
};

struct Hop {
    int at = 0;  ///< switch
    int in = 0;  ///< port; 0 where the route begins in the switch
    int out = 0;
};

struct Route {
    Ending ending = Ending::no_cable;
    std::vector<Hop> hops;  ///< up to where it ends
    float rate = 0;         ///< Gb/s of the slowest cable; 0 without cables, or where one's is not known
};

/// What is wrong among all pairs of some vertices.
struct Broken {
    struct Example {
        int from = 0;
        int to = 0;
        Ending ending = Ending::arrived;
    };
    std::vector<std::int64_t> pairs;  ///< [Ending]
    std::vector<Example> examples;    ///< the first few of each ending but arrived
};

class Routes {
  public:
    /// Throws std::invalid_argument where sizes do not fit, or a number names nothing.
    explicit Routes(Wiring wiring);

    [[nodiscard]] const Wiring& wiring() const { return wiring_; }

    /// From vertex to vertex. `path` is added to the base LID, modulo 2^lmc. Throws std::out_of_range for a
    /// vertex that is none.
    [[nodiscard]] Route route(int from, int to, int path = 0) const;

    /// [from][to], switches passed between each two; unreachable where the route does not arrive.
    [[nodiscard]] std::vector<std::uint16_t> hops(const std::vector<int>& vertices) const;

    /// [from][to], Gb/s of the slowest cable between each two; 0 where the route does not arrive, NaN where a
    /// cable's speed is not known, infinity to itself.
    [[nodiscard]] std::vector<float> rates(const std::vector<int>& vertices) const;

    /// Which pairs do not arrive.
    [[nodiscard]] Broken broken(const std::vector<int>& vertices, int examples) const;

    /// Pairs, each counted once, whose way back is not the same switches in the other order, and the first
    /// few. Pairs of which a way does not arrive are not among them.
    struct Asymmetric {
        std::int64_t pairs = 0;
        std::vector<std::pair<int, int>> examples;
    };
    [[nodiscard]] Asymmetric asymmetric(const std::vector<int>& vertices, int examples) const;

    /// What flows over the cables when each of `from` sends `bytes` to that of `to`.
    struct Loads {
        std::vector<double> out;  ///< [switch][port]
        std::vector<double> up;   ///< [end], into its cable
        double lost = 0;          ///< of pairs whose route does not arrive
    };
    [[nodiscard]] Loads loads(const std::vector<int>& from, const std::vector<int>& to,
                              const std::vector<double>& bytes) const;

    /// What flows when each of `vertices` sends one byte to each other, and the most of it that passes a
    /// switch towards any one of them: so much cannot be divided among its ports.
    struct Uniform {
        Loads loads;
        std::vector<double> together;  ///< [switch]
    };
    [[nodiscard]] Uniform uniform(const std::vector<int>& vertices) const;

  private:
    enum class Seen : std::uint8_t { no, on_the_way, known };

    /// What the switches do with packets to one LID.
    struct Towards {
        std::vector<std::uint16_t> hops;  ///< [switch], switches passed, itself among them
        std::vector<float> rate;          ///< [switch], Gb/s of the slowest cable that follows
        std::vector<Ending> ending;       ///< [switch]
        std::vector<Seen> seen;           ///< [switch], room to work in
        std::vector<int> way;
    };
    void towards(int to, int lid, Towards& found) const;
    void walk(int from, int to, int path, Route& found) const;
    [[nodiscard]] std::size_t cell(int at, int port) const;
    [[nodiscard]] bool is_switch(int vertex) const { return vertex < wiring_.switches; }
    [[nodiscard]] int lid_of(int vertex, int path) const;
    [[nodiscard]] int port_out(int at_switch, int lid) const;
    [[nodiscard]] int entry_of(int from) const;
    void check(const std::vector<int>& vertices) const;
    [[nodiscard]] Loads no_loads() const;
    template <typename Cell>
    void each_pair(const std::vector<int>& vertices, Cell cell) const;

    Wiring wiring_;
};

}  // namespace isochrone::core::fabric
