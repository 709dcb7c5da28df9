#include "core/runtime/network_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end) return std::nullopt;
  return port;
}

bool IsIpv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsIpv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The host without the brackets of an IPv6 literal.
std::string StripBrackets(std::string_view host) {
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return std::string(host);
}

std::string NumericHost(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  return inet_ntop(address->sa_family, bytes, text.data(), text.size());
}

LocalAddress Numeric(std::string host) {
  LocalAddress local;
  local.ipv6 = host.find(':') != std::string::npos;
  local.every_interface = host == "0.0.0.0" || host == "::";
  local.host = std::move(host);
  return local;
}

// Looks a name up, IPv4 first. The error is the resolver's own words.
Result<LocalAddress> LookUp(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error != 0) return NotFound(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
      if (entry->ai_family == family) return Numeric(NumericHost(entry->ai_addr));
    }
  }
  return NotFound("no IPv4 or IPv6 address");
}

// Networks that end inside this machine: bridges and virtual cables of containers.
bool InsideThisMachine(const std::string& interface) {
  for (const char* prefix :
       {"docker", "br-", "veth", "virbr", "cni", "flannel", "cali", "lxc", "podman"}) {
    if (interface.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

Result<HostPort> ParseHostPort(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return InvalidArgument(StrCat("'", text, "' is not HOST:PORT: ", why,
                                  "; write it as 10.0.0.1:7070 or [::1]:7070"));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("it has no port");
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || host == "[]") return wrong("it has no host");
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find_first_of(":[]") != std::string_view::npos) {
    return wrong("an IPv6 address needs brackets around it");
  }
  if (bracketed && !IsIpv6(StripBrackets(host))) return wrong("what is in brackets is not IPv6");
  const std::optional<std::uint16_t> port = ParsePort(text.substr(colon + 1));
  if (!port.has_value() || *port == 0) return wrong("the port is not a number from 1 to 65535");
  return HostPort{StripBrackets(host), *port};
}

Result<PortRange> ParsePorts(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint16_t> first = ParsePort(text.substr(0, dash));
  const std::optional<std::uint16_t> last =
      dash == std::string_view::npos ? first : ParsePort(text.substr(dash + 1));
  if (!first.has_value() || !last.has_value() || (dash != std::string_view::npos && *first == 0)) {
    return InvalidArgument(StrCat(
        "--ports '", text, "' is neither a port, nor a range like 7000-7099, nor 0 for any"));
  }
  if (*first > *last) {
    return InvalidArgument(
        StrCat("--ports '", text, "' is an empty range; write the smaller port first"));
  }
  return PortRange{*first, *last};
}

std::string TcpAddress(std::string_view host, std::uint16_t port) {
  if (host.find(':') != std::string_view::npos) return StrCat("tcp://[", host, "]:", port);
  return StrCat("tcp://", host, ":", port);
}

Result<LocalAddress> ResolveBind(const std::string& bind) {
  if (bind.empty()) {
    return InvalidArgument("--bind is empty; give an address, an interface, or * for all of them");
  }
  if (bind == "*") return Numeric("0.0.0.0");
  const std::string host = StripBrackets(bind);
  if (IsIpv4(host) || IsIpv6(host)) return Numeric(host);

  const std::vector<InterfaceAddress> addresses = InterfaceAddresses();
  for (const bool ipv6 : {false, true}) {
    for (const InterfaceAddress& address : addresses) {
      if (address.interface == host && address.ipv6 == ipv6) return Numeric(address.host);
    }
  }
  Result<LocalAddress> looked_up = LookUp(host);
  if (looked_up.ok()) return looked_up;

  std::vector<std::string> names;
  for (const InterfaceAddress& address : addresses) {
    if (std::find(names.begin(), names.end(), address.interface) == names.end()) {
      names.push_back(address.interface);
    }
  }
  return NotFound(StrCat("--bind '", bind,
                         "' is no address, no interface of this machine that is up (",
                         StrJoin(names), "), and no host name that resolves (",
                         looked_up.status().message(), "); give one of them, or * for all"));
}

Result<std::string> AdvertisedAddress(const std::string& advertise, const LocalAddress& bound,
                                      std::uint16_t port) {
  if (advertise.empty()) {
    if (!bound.every_interface) return TcpAddress(bound.host, port);
    const std::string host = ReachableHost(InterfaceAddresses(), bound.ipv6);
    if (host.empty()) {
      return FailedPrecondition("no interface of this machine is up; say --advertise HOST");
    }
    return TcpAddress(host, port);
  }
  const std::string bare = StripBrackets(advertise);
  if (IsIpv6(bare) || advertise.find(':') == std::string::npos) return TcpAddress(bare, port);
  Result<HostPort> given = ParseHostPort(advertise);
  if (!given.ok()) return InvalidArgument(StrCat("--advertise ", given.status().message()));
  return TcpAddress(given->host, given->port);
}

std::vector<InterfaceAddress> InterfaceAddresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const sa_family_t family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr)) {
      continue;
    }
    addresses.push_back({entry->ifa_name, NumericHost(entry->ifa_addr), family == AF_INET6,
                         (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return addresses;
}

std::string ReachableHost(const std::vector<InterfaceAddress>& addresses, bool ipv6) {
  const auto find = [&addresses](bool want_ipv6, bool want_loopback) -> std::string {
    for (const InterfaceAddress& address : addresses) {
      if (address.ipv6 != want_ipv6 || address.loopback != want_loopback) continue;
      if (!InsideThisMachine(address.interface)) return address.host;
    }
    return "";
  };
  for (const bool loopback : {false, true}) {
    if (ipv6) {
      if (std::string host = find(true, loopback); !host.empty()) return host;
    }
    if (std::string host = find(false, loopback); !host.empty()) return host;
  }
  return "";
}

}  // namespace slackline
