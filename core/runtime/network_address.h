// What --bind, --ports, --advertise and --scheduler mean on this machine.
//
// Hosts are kept without brackets; TcpAddress puts them around IPv6 literals.
#ifndef SLACKLINE_CORE_RUNTIME_NETWORK_ADDRESS_H_
#define SLACKLINE_CORE_RUNTIME_NETWORK_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/status.h"

namespace slackline {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// Parses "host:7070", "10.0.0.1:7070" or "[::1]:7070". The host is not looked up.
// Errors: kInvalidArgument naming the text.
Result<HostPort> ParseHostPort(std::string_view text);

// Both ends are included; 0 to 0 stands for any free port.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  bool operator==(const PortRange&) const = default;
};

// Parses "0", "7000" or "7000-7099". Errors: kInvalidArgument naming the text.
Result<PortRange> ParsePorts(std::string_view text);

// "tcp://host:port", as Connect takes it.
std::string TcpAddress(std::string_view host, std::uint16_t port);

struct LocalAddress {
  std::string host;  // Numeric.
  bool ipv6 = false;
  bool every_interface = false;  // 0.0.0.0 or ::

  bool operator==(const LocalAddress&) const = default;
};

// What --bind means: an IPv4 or IPv6 literal, "*" (every interface), the name of an interface, or a
// host name. IPv4 is preferred where a name has both.
// Errors: kInvalidArgument for "", kNotFound for a name that is none of these.
// Blocking: may ask the name service.
Result<LocalAddress> ResolveBind(const std::string& bind);

// What others are told. `advertise` is "", HOST, HOST:PORT or [IPv6]:PORT; what it leaves open is
// as bound, and for every interface the address of the first one that others can reach. Errors:
// kInvalidArgument naming the text.
Result<std::string> AdvertisedAddress(const std::string& advertise, const LocalAddress& bound,
                                      std::uint16_t port);

// One address of one interface of this machine.
struct InterfaceAddress {
  std::string interface;
  std::string host;  // Numeric.
  bool ipv6 = false;
  bool loopback = false;
};

// Of the interfaces that are up, in the system's order; link-local IPv6 is left out.
std::vector<InterfaceAddress> InterfaceAddresses();

// The first address that is neither loopback nor inside this machine (docker and the like); then
// any of loopback. IPv6 only when asked for, and then preferred. "" if there is none.
std::string ReachableHost(const std::vector<InterfaceAddress>& addresses, bool ipv6);

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_NETWORK_ADDRESS_H_
