// SPDX-License-Identifier: BSD-3-Clause
//
// The ways that messages take between ranks, and how these divide them. The model is described in
// simulate.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "place/layout.hpp"
#include "plogp/rendezvous.hpp"
#include "simulate/agenda.hpp"
#include "simulate/sharing.hpp"

namespace isochrone::core::simulate {

/// [level], the seconds that a byte keeps the way out of one of its groups, or the way in; 0 where nothing is
/// shared. See simulate.hpp.
[[nodiscard]] std::vector<double> way_s_per_byte(const place::Layout& layout);

/// What has become of a message.
struct News {
    enum class Kind : std::uint8_t {
        left,  ///< its last byte has left the sender's side
        came,  ///< its last byte is there
    };
    Kind kind = Kind::left;
    int message = 0;     ///< as its sender has numbered it
    double began_s = 0;  ///< when its first byte left the sender
};

class Network {
  public:
    /// The layout must outlive the network.
    explicit Network(const place::Layout& layout);

    /// A channel: all that goes from one rank to another, which nothing overtakes. To be asked for once for
    /// each pair. Throws std::invalid_argument if the ranks meet at no level.
    int channel(int from, int to);
    /// The level at which the ends of a channel meet.
    [[nodiscard]] int level(int channel) const { return channels_[at(channel)].level; }
    [[nodiscard]] const plogp::Parameters& links(int channel) const;
    [[nodiscard]] const plogp::Rendezvous& rendezvous(int channel) const;

    /// The sender's processor hands over a message at `at_s`. Now it is `now_s`, and nothing may happen
    /// before.
    void send(int channel, std::int64_t size_bytes, double now_s, double at_s, int message);

    /// When something happens next; infinity: never.
    [[nodiscard]] double next_s() const { return agenda_.next_s(); }
    /// Lets that happen.
    void step();
    /// Whether anything has come of that, and of sending, that was not told. If so, `news` becomes the next.
    bool next(News& news);

  private:
    /// A message on its way.
    struct Transit {
        int channel = 0;
        int message = 0;
        int number = 0;  // among those of its channel
        std::int64_t size_bytes = 0;
        int ways_out_left = 0;  // that its last byte has not got through
        int ways_in_left = 0;
        double began_s = 0;
        double drained_s = std::numeric_limits<double>::infinity();
        int next = -1;  // in the queue that it stands in
    };
    /// Messages that wait, in order.
    struct Queue {
        int first = -1;
        int last = -1;
        bool is_taken = false;  // by one that they wait for
    };
    struct Channel {
        int from = 0;
        int to = 0;
        int level = 0;              // where the two meet
        int first_flow = 0;         // of as many as there are ways
        std::vector<int> ways_out;  // the sender's own, then shared ones, innermost first
        std::vector<int> ways_in;   // shared ones, outermost first, then the receiver's own
        Queue queue = {};           // for the sender's own way, which one of them takes at a time
        int due = 0;                // messages that are on the agenda to come
        int sent = 0;               // messages
        int came = 0;
        std::vector<int> early;  // messages that wait for one before them to come: none overtakes another
        double ready_s = 0;      // when the one before may leave
    };
    struct Way {
        int level = -1;  // whose links say how long a message takes it; -1: a rank's own
        double s_per_byte = 0;
        bool measured = false;
        int fixed_flow = -1;  // of a rank's own: of what messages take by themselves
        Queue queue = {};     // of a rank's own way out: for that
        Sharing sharing = {};
        double foreseen_s = std::numeric_limits<double>::infinity();
    };
    struct Happening {
        enum class Kind : std::uint8_t {
            ready,   // a message may leave its sender, as soon as those before it have
            arrive,  // its head is at the receiver's side
            serve,   // the first message may be through a way
            come,    // the last byte is there
        };
        Kind kind = Kind::ready;
        int subject = 0;  // serve: the way; else the transit
    };
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    static bool is_out(int way) { return way % 2 == 0; }
    Channel& channel_of(int transit) { return channels_[at(transits_[transit].channel)]; }

    /// Whether it is a message's turn; else it waits for that.
    bool take(Queue& queue, int transit);
    /// The message whose turn it is next; -1: none waits.
    int release(Queue& queue);
    /// A message may leave as soon as those before it to the same receiver are through the sender's own way,
    void ready(int transit, double now_s);
    /// and what those to others take by themselves is done.
    void begin(int transit, double now_s);
    void depart(int transit, double now_s);
    void arrive(int transit, double now_s);
    void enter(int way, int flow, int transit, double now_s);
    void add(int way, Sharing::Job job, double work_s, double now_s);
    void foresee(int way);
    void serve(int way, double now_s);
    void through(int way, int transit, double now_s);
    void foresee_coming(int transit, double now_s);
    void come(int transit);
    [[nodiscard]] double occupied_s(const Way& way, const Transit& transit) const;

    const place::Layout& layout_;
    std::vector<plogp::Rendezvous> rendezvous_;  // [level]
    std::vector<double> fixed_s_;                // [level]: what each message takes by itself
    std::vector<std::vector<int>>
        way_of_;             // [level][rank]: the way out of its group; in is the next; empty: none
    std::vector<Way> ways_;  // out and in, in turn: those of ranks, then shared ones
    std::vector<Channel> channels_;
    std::vector<Sharing::Flow> flows_;
    Slots<Transit> transits_;
    Agenda<Happening> agenda_;
    std::vector<News> news_;
    std::size_t told_ = 0;  // of the news
};

}  // namespace isochrone::core::simulate
