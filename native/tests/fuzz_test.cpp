// SPDX-License-Identifier: BSD-3-Clause
//
// The targets of `make fuzz` in a short run that is the same each time: mutations of what is right.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

const std::vector<std::string> parts{"query a:b\n",
                                     "ports a:0xa0\n",
                                     "hops 0xb0:d\n",
                                     "speed c:a.domain\r\n",
                                     "matrix a,b,c,d\n",
                                     "version\n",
                                     "matrix speed a,a\n",
                                     "health\n",
                                     "matrix ,\n",
                                     "query :\n",
                                     "query a:b:c\n",
                                     "hops 0x:a\n",
                                     "ports a:0xffffffffffffffffff\n",
                                     "\n",
                                     "matrix hops \n"};

TEST(Fuzz, FabricServiceAnswersEachLineOnce) {
    for (std::uint32_t seed = 0; seed < 20000; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t limit) { return random() % limit; };
        std::string input;
        // Ports of the ring most of the time, so that routes have several switches.
        for (int entry = 0; entry < 40; ++entry)
            input.push_back(static_cast<char>(below(8) != 0 ? below(4) : below(256)));
        for (std::size_t line = below(6); line-- > 0;) input += parts[below(parts.size())];
        for (std::size_t change = below(8); change-- > 0 && input.size() > 40;) {
            const auto place = 40 + below(input.size() - 40);
            switch (below(3)) {
                case 0:
                    input[place] = static_cast<char>(below(256));
                    break;
                case 1:
                    input.erase(place, 1 + below(4));
                    break;
                default:
                    input.insert(place, 1, ":,.\n\r 0x"[below(8)]);
                    break;
            }
        }
        EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()),
                  0);
    }
}

}  // namespace
