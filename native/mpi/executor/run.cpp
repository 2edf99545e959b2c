// SPDX-License-Identifier: BSD-3-Clause
#include "executor/run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "comm/check.hpp"
#include "executor/message.hpp"
#include "executor/tags.hpp"
#include "schedule/progress.hpp"

namespace isochrone::mpi::executor {
namespace {

using namespace core::schedule;
using comm::check;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Packed = std::vector<std::byte>;

/// Bytes of a piece, on the mean: longer ones are not worth a copy.
constexpr std::int64_t largest_packed_piece = 4096;

}  // namespace

class Runner::Run {
  public:
    explicit Run(const Schedule& schedule)
        : schedule_(schedule), resolver_(schedule), progress_(schedule, 1, 1) {}

    void to_the_end(const Extents& extents, const Buffers& buffers, const Stage& stage, Scratch& scratch) {
        buffers_ = &buffers;
        stage_ = &stage;
        scratch_ = &scratch;
        tags_.emplace(stage.tag);
        if (scratch.size() < schedule_.buffers.size()) scratch.resize(schedule_.buffers.size());
        resolver_.restart(extents);
        progress_.restart(extents.segments(), stage.window);
        try {
            advance();
        } catch (...) {
            give_up();
            throw;
        }
    }

  private:
    void advance() {
        while (!progress_.finished()) {
            ready_.clear();
            progress_.take_ready(ready_);
            if (!ready_.empty()) {
                // What takes this processor's time comes after what does not.
                for (const Instance instance : ready_) {
                    if (is_message(instance)) start(instance);
                }
                for (const Instance instance : ready_) {
                    if (!is_message(instance)) start(instance);
                }
                continue;
            }
            Instance instance;
            if (progress_.next_collective(instance)) {
                collective(schedule_.ops[at(instance.op)], instance);
                progress_.complete(instance);
                continue;
            }
            wait_for_some();
        }
    }

    /// After a failure nobody may write into the buffers any more. What is sent to a rank that may have
    /// failed too cannot be taken back.
    void give_up() {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL) continue;
            if (schedule_.ops[at(under_way_[i].op)].kind == OpKind::recv) {
                PMPI_Cancel(&requests_[i]);
                PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
            } else {
                PMPI_Request_free(&requests_[i]);
            }
        }
        requests_.clear();
        under_way_.clear();
        packed_.clear();
        // Sends may go on reading.
        static_cast<void>(std::make_unique<std::vector<Packed>>(std::move(memory_)).release());
        memory_ = {};
        free_.clear();
    }

    [[nodiscard]] bool is_message(Instance instance) const {
        const OpKind kind = schedule_.ops[at(instance.op)].kind;
        return kind == OpKind::send || kind == OpKind::recv;
    }

    void start(Instance instance) {
        const Op& op = schedule_.ops[at(instance.op)];
        switch (op.kind) {
            case OpKind::send: {
                const Message message = to_send_or_receive(op.source, instance, true);
                check(PMPI_Isend(message.address(), message.count(), message.type(), stage_->ranks[op.peer],
                                 tags_->next(op), stage_->comm, &requests_.back()),
                      "MPI_Isend");
                break;
            }
            case OpKind::recv: {
                const Message message = to_send_or_receive(op.target, instance, false);
                check(PMPI_Irecv(message.address(), message.count(), message.type(), stage_->ranks[op.peer],
                                 tags_->next(op), stage_->comm, &requests_.back()),
                      "MPI_Irecv");
                break;
            }
            case OpKind::copy:
                each_piece(op, instance, [](const char* from, char* to, std::int64_t bytes) {
                    if (from != to) std::memcpy(to, from, static_cast<std::size_t>(bytes));
                });
                progress_.complete(instance);
                break;
            case OpKind::reduce:
                each_piece(op, instance, [&](const char* left, char* right, std::int64_t bytes) {
                    reduce(left, right, bytes);
                });
                progress_.complete(instance);
                break;
            case OpKind::library_bcast:
                break;  // never offered as ready
        }
    }

    void reduce(const char* left, char* right, std::int64_t bytes) const {
        std::int64_t elements = bytes / buffers_->unit_bytes;
        while (elements > 0) {
            const int piece =
                static_cast<int>(std::min<std::int64_t>(elements, std::numeric_limits<int>::max()));
            check(PMPI_Reduce_local(left, right, piece, buffers_->datatype, buffers_->op),
                  "MPI_Reduce_local");
            left += piece * buffers_->unit_bytes;
            right += piece * buffers_->unit_bytes;
            elements -= piece;
        }
    }

    void collective(const Op& op, Instance instance) {
        const Message message = data(op.target, instance);
        const int root = stage_->groups->number(op.level, stage_->ranks[op.peer]);
        check(PMPI_Bcast(message.address(), message.count(), message.type(), root,
                         stage_->groups->comm(op.level)),
              "MPI_Bcast");
    }

    /// Takes what is at `index` in the list of requests as done.
    void finish(std::size_t index) {
        if (packed_[index] >= 0) unpack(index);
        progress_.complete(under_way_[index]);
        requests_[index] = requests_.back();
        under_way_[index] = under_way_.back();
        packed_[index] = packed_.back();
        requests_.pop_back();
        under_way_.pop_back();
        packed_.pop_back();
    }

    /// The next request, and the message that it is to be of. Many small pieces are copied to one, or from it
    /// when the message is there: libraries take longer over a datatype that describes them.
    Message to_send_or_receive(const Slice& slice, Instance instance, bool sends) {
        requests_.push_back(MPI_REQUEST_NULL);
        under_way_.push_back(instance);
        packed_.push_back(-1);
        ranges(slice, instance, ranges_);
        const std::int64_t unit = unit_bytes(slice);
        std::int64_t units = 0;
        for (const Range& range : ranges_) units += range.length;
        const auto pieces = static_cast<std::int64_t>(ranges_.size());
        if (pieces < 2 || units * unit / pieces > largest_packed_piece) return {base(slice), ranges_, unit};
        if (free_.empty()) {
            free_.push_back(static_cast<int>(memory_.size()));
            memory_.emplace_back();
        }
        packed_.back() = free_.back();
        free_.pop_back();
        auto& memory = memory_[at(packed_.back())];
        const auto bytes = static_cast<std::size_t>(units * unit);
        if (memory.size() < bytes) memory.resize(bytes);
        if (sends) copy_pieces(base(slice), unit, memory.data(), true);
        ranges_.assign(1, {0, units});
        return {memory.data(), ranges_, unit};
    }

    void unpack(std::size_t index) {
        const Instance instance = under_way_[index];
        const Op& op = schedule_.ops[at(instance.op)];
        if (op.kind == OpKind::recv) {
            ranges(op.target, instance, ranges_);
            copy_pieces(base(op.target), unit_bytes(op.target), memory_[at(packed_[index])].data(), false);
        }
        free_.push_back(packed_[index]);
    }

    /// Copies the pieces at `ranges_` to `memory`, or from it.
    void copy_pieces(char* pieces, std::int64_t unit, std::byte* memory, bool pack) {
        for (const Range& range : ranges_) {
            char* piece = pieces + range.offset * unit;
            const auto bytes = static_cast<std::size_t>(range.length * unit);
            if (pack) {
                std::memcpy(memory, piece, bytes);
            } else {
                std::memcpy(piece, memory, bytes);
            }
            memory += bytes;
        }
    }

    /// Waits until a message has ended, and finishes what has.
    void wait_for_some() {
        if (requests_.empty()) throw std::logic_error("the schedule waits for nothing");
#ifdef ISOCHRONE_SMPI
        // SimGrid's MPI_Waitsome tests every request. A test takes simulated time, so a message costs more,
        // the more there are. And what a test finds done stays in a list that all later messages search.
        int index = 0;
        check(PMPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE),
              "MPI_Waitany");
        finish(at(index));
#else
        int count = 0;
        done_.resize(requests_.size());
        statuses_.resize(requests_.size());
        int code = PMPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                                 statuses_.data());
        if (code == MPI_ERR_IN_STATUS) {
            // What went wrong is the error of a message.
            const auto end = statuses_.begin() + count;
            const auto failed = std::find_if(statuses_.begin(), end, [](const MPI_Status& status) {
                return status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING;
            });
            if (failed != end) code = failed->MPI_ERROR;
        }
        check(code, "MPI_Waitsome");
        std::sort(done_.begin(), done_.begin() + count, std::greater<>());
        for (int i = 0; i < count; ++i) finish(at(done_[at(i)]));
#endif
    }

    [[nodiscard]] bool is_counts(const Slice& slice) const {
        return schedule_.buffers[at(slice.buffer)].kind == BufferKind::counts;
    }
    [[nodiscard]] std::int64_t unit_bytes(const Slice& slice) const {
        return is_counts(slice) ? static_cast<std::int64_t>(sizeof(std::int64_t)) : buffers_->unit_bytes;
    }

    /// Where a buffer begins. MPI takes `void*` for what it only reads, too.
    char* base(const Slice& slice) {
        const Buffer& buffer = schedule_.buffers[at(slice.buffer)];
        switch (buffer.kind) {
            case BufferKind::input:
                return static_cast<char*>(const_cast<void*>(buffers_->input));
            case BufferKind::output:
                return static_cast<char*>(buffers_->output);
            case BufferKind::counts:
                return reinterpret_cast<char*>(resolver_.table(slice.buffer).data());
            case BufferKind::scratch:
                break;
        }
        auto& memory = (*scratch_)[at(slice.buffer)];
        const auto bytes =
            static_cast<std::size_t>(resolver_.scratch_length(slice.buffer) * buffers_->unit_bytes);
        if (memory.size() < bytes) memory.resize(bytes);
        return reinterpret_cast<char*>(memory.data());
    }

    void ranges(const Slice& slice, Instance instance, std::vector<Range>& result) {
        const Op& op = schedule_.ops[at(instance.op)];
        resolver_.ranges(slice, schedule_.stages[at(op.stage)].segmented, instance.segment, result);
    }

    Message data(const Slice& slice, Instance instance) {
        ranges(slice, instance, ranges_);
        return {base(slice), ranges_, unit_bytes(slice)};
    }

    /// Calls act(from, to, bytes) for the longest pieces that are in one range at both ends.
    template <class Act>
    void each_piece(const Op& op, Instance instance, Act&& act) {
        ranges(op.source, instance, ranges_);
        ranges(op.target, instance, target_ranges_);
        const char* from = base(op.source);
        char* to = base(op.target);
        const std::int64_t unit = unit_bytes(op.target);
        std::size_t s = 0;
        std::size_t t = 0;
        while (s < ranges_.size() && t < target_ranges_.size()) {
            Range& source = ranges_[s];
            Range& target = target_ranges_[t];
            const std::int64_t length = std::min(source.length, target.length);
            act(from + source.offset * unit, to + target.offset * unit, length * unit);
            source = {source.offset + length, source.length - length};
            target = {target.offset + length, target.length - length};
            if (source.length == 0) ++s;
            if (target.length == 0) ++t;
        }
    }

    const Schedule& schedule_;
    const Buffers* buffers_ = nullptr;
    const Stage* stage_ = nullptr;
    Scratch* scratch_ = nullptr;
    std::optional<Tags> tags_;
    Resolver resolver_;
    Progress progress_;
    std::vector<Instance> ready_;
    std::vector<MPI_Request> requests_;
    std::vector<Instance> under_way_;  // beside requests_
    std::vector<int> packed_;          // beside requests_: number in memory_, or -1
    std::vector<Packed> memory_;       // for messages in many pieces
    std::vector<int> free_;            // numbers in it that nobody uses
    std::vector<int> done_;
    std::vector<MPI_Status> statuses_;  // beside done_
    std::vector<Range> ranges_;
    std::vector<Range> target_ranges_;
};

Runner::Runner(const Schedule& schedule) : run_(std::make_unique<Run>(schedule)) {}
Runner::~Runner() = default;

void Runner::run(const Extents& extents, const Buffers& buffers, const Stage& stage, Scratch& scratch) {
    run_->to_the_end(extents, buffers, stage, scratch);
}

}  // namespace isochrone::mpi::executor
