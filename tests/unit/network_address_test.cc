#include "core/runtime/network_address.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

TEST(NetworkAddressTest, ParsesHostsAndPorts) {
  const struct {
    const char* text;
    HostPort expected;
  } cases[] = {{"host:7070", {"host", 7070}},
               {"10.0.0.1:1", {"10.0.0.1", 1}},
               {"[::1]:65535", {"::1", 65535}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<HostPort> parsed = ParseHostPort(c.text);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(*parsed, c.expected);
  }
}

TEST(NetworkAddressTest, RefusesWhatIsNeitherNamingTheText) {
  for (const char* text : {"", "host", "host:", ":7070", "host:port", "host:65536", "host:-1",
                           "::1:7070", "[::1]7070"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseHostPort(text), StatusIs(StatusCode::kInvalidArgument, text));
  }
  for (const char* text : {"abc", "7000-", "-7000", "7100-7000", "70000", "7000-7001-7002"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParsePorts(text), StatusIs(StatusCode::kInvalidArgument, text));
  }
}

TEST(NetworkAddressTest, ParsesPortsAndRanges) {
  EXPECT_EQ(*ParsePorts("0"), (PortRange{0, 0}));
  EXPECT_EQ(*ParsePorts("7000"), (PortRange{7000, 7000}));
  EXPECT_EQ(*ParsePorts("7000-7099"), (PortRange{7000, 7099}));
}

TEST(NetworkAddressTest, BindTakesLiteralsInterfacesAndEverything) {
  const Result<LocalAddress> literal = ResolveBind("127.0.0.1");
  const Result<LocalAddress> interface = ResolveBind("lo");
  const Result<LocalAddress> everything = ResolveBind("*");

  ASSERT_THAT(literal, IsOk());
  EXPECT_EQ(literal->host, "127.0.0.1");
  ASSERT_THAT(interface, IsOk());
  EXPECT_EQ(interface->host, "127.0.0.1");
  ASSERT_THAT(everything, IsOk());
  EXPECT_TRUE(everything->every_interface);
  EXPECT_THAT(ResolveBind(""), StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(ResolveBind("no-such-interface0"),
              StatusIs(StatusCode::kNotFound, "no-such-interface0"));
}

TEST(NetworkAddressTest, WhatIsAdvertisedMayDifferFromWhatIsBound) {
  const LocalAddress bound{.host = "10.1.2.3"};

  EXPECT_EQ(*AdvertisedAddress("", bound, 7070), "tcp://10.1.2.3:7070");
  EXPECT_EQ(*AdvertisedAddress("outside", bound, 7070), "tcp://outside:7070");
  EXPECT_EQ(*AdvertisedAddress("outside:1", bound, 7070), "tcp://outside:1");
  EXPECT_EQ(*AdvertisedAddress("[2001:db8::1]:1", bound, 7070), "tcp://[2001:db8::1]:1");
  EXPECT_THAT(AdvertisedAddress("outside:x", bound, 7070),
              StatusIs(StatusCode::kInvalidArgument, "outside:x"));
}

TEST(NetworkAddressTest, TheAddressForOthersIsNeitherLoopbackNorInsideThisMachine) {
  const std::vector<InterfaceAddress> addresses = {{"lo", "127.0.0.1", false, true},
                                                   {"docker0", "172.17.0.1", false, false},
                                                   {"eth1", "192.168.20.4", false, false}};

  EXPECT_EQ(ReachableHost(addresses, false), "192.168.20.4");
  EXPECT_EQ(ReachableHost({}, false), "");
}

}  // namespace
}  // namespace slackline
