// SPDX-License-Identifier: BSD-3-Clause
//
// How deep a text is nested is told before anything is made of it.
#include <gtest/gtest.h>

#include <string>

#include "json/read.hpp"

namespace {

using isochrone::core::json::too_deep;

std::string nested(const std::string& open, const std::string& close, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += open;
    text += "1";
    for (int i = 0; i < times; ++i) text += close;
    return text;
}

TEST(Json, NestedMoreThan64TimesIsTooDeep) {
    EXPECT_FALSE(too_deep(nested("[", "]", 64)));
    EXPECT_TRUE(too_deep(nested("[", "]", 65)));
    EXPECT_FALSE(too_deep(nested("{\"a\":", "}", 64)));
    EXPECT_TRUE(too_deep(nested("{\"a\":[", "]}", 33)));
    EXPECT_TRUE(too_deep(std::string(65, '[')));
}

TEST(Json, ManySideBySideAreNotDeep) {
    std::string text = "[";
    for (int i = 0; i < 1000; ++i) text += "[{}],";
    EXPECT_FALSE(too_deep(text + "0]"));
}

TEST(Json, WhatIsInStringsIsNoList) {
    EXPECT_FALSE(too_deep('"' + std::string(100, '[') + '"'));
    EXPECT_FALSE(too_deep(R"("\"\\)" + std::string(100, '[') + '"'));
    EXPECT_FALSE(too_deep(R"("a\"b)" + std::string(100, '{') + '"'));
    EXPECT_TRUE(too_deep(R"(["\\",)" + std::string(100, '[')));
    EXPECT_FALSE(too_deep("\"\\"));
}

}  // namespace
