// SPDX-License-Identifier: BSD-3-Clause
//
// A way that divides itself equally among flows: generalised processor sharing (Parekh and Gallager, IEEE/ACM
// Transactions on Networking 1, 1993). A flow's own jobs are served in their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace isochrone::core::simulate {

/// Keeps time in virtual seconds, in each of which every flow that has work gets one second of work done. So
/// it is known as soon as a job comes when it will be done in these, whatever comes later, and each of n jobs
/// takes O(log n) steps.
class Sharing {
  public:
    /// What has to be known of a flow.
    struct Flow {
        double last_s = 0;  ///< when its last job will be done, in virtual seconds
        int jobs = 0;       ///< that are not done
    };
    struct Job {
        int name = 0;
        int flow = 0;
    };

    /// A job comes that takes `work_s` of a way that serves nothing else. `flow` is that of the job.
    void add(Job job, Flow& flow, double work_s, double now_s) {
        if (busy_flows_ > 0) {
            const double passed_s = (now_s - updated_s_) / busy_flows_;
            // Not beyond what is done just now, however it was rounded.
            virtual_s_ = std::min(virtual_s_ + passed_s, jobs_.top().done_s);
        }
        updated_s_ = now_s;
        if (flow.jobs++ == 0) {
            ++busy_flows_;
            flow.last_s = virtual_s_;
        }
        flow.last_s += work_s;
        jobs_.push({flow.last_s, next_order_++, job});
    }

    /// When the next job is done, unless another comes before; infinity: there is none.
    [[nodiscard]] double next_s() const {
        if (jobs_.empty()) return std::numeric_limits<double>::infinity();
        return updated_s_ + (jobs_.top().done_s - virtual_s_) * busy_flows_;
    }

    /// Takes the job that is done at `now_s`; false: none is.
    bool take(double now_s, std::vector<Flow>& flows, Job& job) {
        if (next_s() > now_s) return false;
        virtual_s_ = jobs_.top().done_s;
        updated_s_ = now_s;
        job = jobs_.top().job;
        jobs_.pop();
        if (--flows[static_cast<std::size_t>(job.flow)].jobs == 0) --busy_flows_;
        return true;
    }

  private:
    struct Entry {
        double done_s;  // virtual
        std::uint64_t order;
        Job job;

        friend bool operator>(const Entry& a, const Entry& b) {
            return a.done_s != b.done_s ? a.done_s > b.done_s : a.order > b.order;
        }
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> jobs_;
    std::uint64_t next_order_ = 0;
    int busy_flows_ = 0;
    double virtual_s_ = 0;
    double updated_s_ = 0;
};

}  // namespace isochrone::core::simulate
