// Compressed messages, as kombu packs them.
#include "clients/amqp/compression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace reaper::amqp::compression_test {
namespace {

using ::testing::HasSubstr;

/// `{"event_type": "x", "payload": "aaa..."}` with 200 letters, packed by kombu.compression.
struct Packed {
    const char* how;
    const char* hex;
};

std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

const std::string plain = R"({"event_type": "x", "payload": ")" + std::string(200, 'a') + R"("})";

class Compressed : public ::testing::TestWithParam<Packed> {};

TEST_P(Compressed, IsUnpacked) {
    const auto whole = unpacked(bytes_of(GetParam().hex), GetParam().how, 1000);
    ASSERT_TRUE(whole) << whole.error().what;
    EXPECT_EQ(*whole, plain);
}

TEST_P(Compressed, IsBoundedWhenUnpacked) {
    const auto whole = unpacked(bytes_of(GetParam().hex), GetParam().how, plain.size() - 1);
    ASSERT_FALSE(whole);
    EXPECT_THAT(whole.error().what, HasSubstr("more than"));
    EXPECT_TRUE(unpacked(bytes_of(GetParam().hex), GetParam().how, plain.size()));
}

TEST_P(Compressed, IsRefusedWhenItIsCutOrFollowedBySomething) {
    const std::string packed = bytes_of(GetParam().hex);
    for (std::size_t size = 0; size < packed.size(); ++size)
        EXPECT_FALSE(unpacked(packed.substr(0, size), GetParam().how, 1000)) << size;
    EXPECT_FALSE(unpacked(packed + "more", GetParam().how, 1000));
    EXPECT_FALSE(unpacked(plain, GetParam().how, 1000));
}

INSTANTIATE_TEST_SUITE_P(
    Kombu, Compressed,
    ::testing::Values(
        Packed{"application/x-gzip",
               "789cab564a2d4bcd2b892fa92c4855b25250aa50d251502a48acccc94f4c01f113870950aa05"
               "00fe405676"},
        Packed{"application/x-bz2",
               "425a6839314159265359ec1dd80b0000121b84500400100000a605c56a0400200022269ea68d"
               "018429931320c8c00fd85473295a31ecbcd5237b469c0884b2ea40f8bb9229c2848760eec058"},
        Packed{"application/x-lzma",
               "fd377a585a000004e6d6b4460200210116000000742fe5a3e000e900285d003d8888a7a394af"
               "8df0f97a883607b0af501c12e2a0487b9f9b05df59faf1ffc2d784f9f93e62f00000a769d7ac"
               "33449cb1000144ea01000000bc24448db1c467fb020000000004595a"},
        Packed{"bzip2",
               "425a6839314159265359ec1dd80b0000121b84500400100000a605c56a0400200022269ea68d"
               "018429931320c8c00fd85473295a31ecbcd5237b469c0884b2ea40f8bb9229c2848760eec058"},
        Packed{"gzip",
               "789cab564a2d4bcd2b892fa92c4855b25250aa50d251502a48acccc94f4c01f113870950aa05"
               "00fe405676"},
        Packed{"application/x-brotli",
               "1be90000046a73a9ca6543b21579300a1a37c660034e00b202b581f51e1cebd4a3268f974918"
               "073756b747c503523e"},
        Packed{"application/zstd",
               "28b52ffd04585d010034027b226576656e745f74797065223a202278222c20227061796c6f61"
               "64223a202261227d01002152e0099c7e8586"}));

TEST(Compression, AnUnknownOneIsNamedWithWhatToDo) {
    const auto whole = unpacked("x", "application/x-own", 1000);
    ASSERT_FALSE(whole);
    EXPECT_THAT(whole.error().what, HasSubstr("application/x-own"));
    EXPECT_THAT(whole.error().what, HasSubstr("kombu_compression"));
}

}  // namespace
}  // namespace reaper::amqp::compression_test
