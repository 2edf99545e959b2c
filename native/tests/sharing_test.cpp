// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace isochrone::tests {
namespace {

using core::simulate::Sharing;

struct Coming {
    double at_s = 0;
    int flow = 0;
    double work_s = 0;
};

/// [job], when it is done.
std::vector<double> serve(const std::vector<Coming>& jobs, int flows) {
    Sharing way;
    std::vector<Sharing::Flow> states(static_cast<std::size_t>(flows));
    std::vector<double> done_s(jobs.size(), -1);
    const auto take_until = [&](double at_s) {
        while (way.next_s() <= at_s) {
            const double now_s = way.next_s();
            for (Sharing::Job job; way.take(now_s, states, job);)
                done_s[static_cast<std::size_t>(job.name)] = now_s;
        }
    };
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        take_until(jobs[i].at_s);
        way.add({static_cast<int>(i), jobs[i].flow}, states[static_cast<std::size_t>(jobs[i].flow)],
                jobs[i].work_s, jobs[i].at_s);
    }
    take_until(1e9);
    return done_s;
}

TEST(AWayOfOneFlow, ServesItsJobsOneAfterTheOther) {
    EXPECT_EQ(serve({{0, 0, 2}, {1, 0, 3}, {7, 0, 1}}, 1), (std::vector<double>{2, 5, 8}));
}

TEST(AWayOfTwoFlows, GivesEachHalfWhileBothHaveWork) {
    // From 1 to 3 both have a half: then the second is done, and 1 of the first is left.
    EXPECT_EQ(serve({{0, 0, 3}, {1, 1, 1}}, 2), (std::vector<double>{4, 3}));
}

TEST(AFlow, HasOneShareHoweverManyJobsItHas) {
    EXPECT_EQ(serve({{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 1, 1}}, 2), (std::vector<double>{2, 3, 4, 2}));
}

TEST(NoWork, IsDoneWithWhatIsBeforeItInItsFlow) {
    EXPECT_EQ(serve({{0, 0, 0}, {0, 1, 2}, {0, 1, 0}}, 2), (std::vector<double>{0, 2, 2}));
}

TEST(AWayWithWork, IsNeverIdleAndNeverTooFastOnRandomJobs) {
    std::mt19937_64 random(4);
    std::uniform_real_distribution<> uniform;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Coming> jobs;
        double at_s = 0;
        for (int i = 0; i < 50; ++i) {
            at_s += uniform(random) < 0.3 ? 0 : uniform(random);
            jobs.push_back({at_s, static_cast<int>(random() % 6), uniform(random)});
        }
        const auto done_s = serve(jobs, 6);
        double idle_from_s = 0;  // of a server of the same work, in whatever order
        for (const auto& job : jobs) idle_from_s = std::max(idle_from_s, job.at_s) + job.work_s;
        EXPECT_NEAR(*std::max_element(done_s.begin(), done_s.end()), idle_from_s, 1e-9);
        std::vector<double> before_s(6, 0);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            double& before = before_s[static_cast<std::size_t>(jobs[i].flow)];
            EXPECT_GE(done_s[i] - std::max(before, jobs[i].at_s), jobs[i].work_s - 1e-9);
            before = done_s[i];
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
