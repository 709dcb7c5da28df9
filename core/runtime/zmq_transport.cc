#include "core/runtime/zmq_transport.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <vector>
#include <zmq.hpp>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/runtime/network_address.h"
#include "core/wire/header.h"

namespace slackline {
namespace {

// Frames below this size are copied: cheaper than the bookkeeping of sharing them.
constexpr std::size_t kCopyBelow = 1024;
// Messages queued for one peer. The protocol's windows keep far below it; a peer that stopped
// reading fills it, and from then on loses what is sent.
constexpr int kQueueMessagesMax = 1 << 16;
constexpr int kLingerMs = 1000;
constexpr int kReconnectMs = 50;
constexpr int kReconnectMaxMs = 2000;
constexpr std::size_t kRoutingIdBytes = 1 + sizeof(std::uint64_t);

using RoutingId = std::array<char, kRoutingIdBytes>;

RoutingId RoutingIdOf(NodeId node) {
  RoutingId id;
  id[0] = 'S';  // ZeroMQ keeps ids that begin with a zero byte for itself.
  std::memcpy(id.data() + 1, &node, sizeof node);
  return id;
}

std::optional<NodeId> NodeOf(const zmq::message_t& id) {
  if (id.size() != kRoutingIdBytes || *id.data<char>() != 'S') return std::nullopt;
  NodeId node;
  std::memcpy(&node, id.data<char>() + 1, sizeof node);
  return node;
}

zmq::message_t ToZmq(const Buffer& buffer) {
  if (buffer.size() < kCopyBelow) return zmq::message_t(buffer.bytes().data(), buffer.size());
  // ZeroMQ holds a reference until the bytes have left; its own thread drops it.
  auto* held = std::make_unique<Buffer>(buffer).release();
  return zmq::message_t(
      const_cast<std::byte*>(buffer.bytes().data()), buffer.size(),
      [](void*, void* hint) { std::unique_ptr<Buffer>(static_cast<Buffer*>(hint)); }, held);
}

Buffer ToBuffer(zmq::message_t message) {
  if (message.size() < kCopyBelow) {
    return Buffer::CopyOf(std::span(message.data<std::byte>(), message.size()));
  }
  auto held = std::make_shared<zmq::message_t>(std::move(message));
  return Buffer::Adopt(held->data<std::byte>(), held->size(), [held] {});
}

std::string Reason(const zmq::error_t& error) { return error.what(); }

}  // namespace

struct ZmqTransport::Impl {
  struct Link {
    NodeId peer;
    std::string address;
    zmq::socket_t socket;
    bool heard = false;  // Anything at all came from there.
  };

  Options options;
  std::uint64_t run_number = 0;
  zmq::context_t context;
  std::optional<zmq::socket_t> router;
  std::string address;
  std::vector<Link> links;
  std::map<NodeId, std::size_t> link_of;
  int wake_fd = -1;
  std::size_t next_socket = 0;  // Where Receive goes on, so that no socket starves another.
  std::function<void(const Status&)> told;
  TransportCounts counts;

  ~Impl() {
    // Nobody was ever there: nothing to wait for.
    for (Link& link : links) {
      if (!link.heard) link.socket.set(zmq::sockopt::linger, 0);
    }
    if (wake_fd >= 0) close(wake_fd);
  }

  void Prepare(zmq::socket_t& socket, bool ipv6) const {
    socket.set(zmq::sockopt::linger, kLingerMs);
    socket.set(zmq::sockopt::sndhwm, kQueueMessagesMax);
    socket.set(zmq::sockopt::rcvhwm, kQueueMessagesMax);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kPayloadBytesMax));
    socket.set(zmq::sockopt::ipv6, ipv6 ? 1 : 0);
    socket.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    socket.set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
  }

  Status Bind();
  void DropLink(std::size_t index);
  // From a link, or else from the router. False if there was nothing.
  bool ReceiveFrom(std::optional<std::size_t> link, const Deliver& deliver);
  Status CheckSender(NodeId sender, std::optional<NodeId> link_peer,
                     std::optional<NodeId> stranger) const;
  void Refuse(const Status& status, std::optional<NodeId> link_peer, std::optional<NodeId> stranger,
              const Deliver& deliver);
  bool SendFrames(zmq::socket_t& socket, const RoutingId* id, const Frames& frames);
};

Status ZmqTransport::Impl::Bind() {
  SLACKLINE_ASSIGN_OR_RETURN(const LocalAddress local, ResolveBind(options.network.bind));
  SLACKLINE_ASSIGN_OR_RETURN(const PortRange ports, ParsePorts(options.network.ports));
  router.emplace(context, zmq::socket_type::router);
  Prepare(*router, local.ipv6);
  router->set(zmq::sockopt::router_mandatory, 1);
  router->set(zmq::sockopt::router_handover, 1);
  std::string reason;
  for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
    const std::string endpoint =
        port == 0 ? StrCat("tcp://", local.ipv6 ? StrCat("[", local.host, "]") : local.host, ":*")
                  : TcpAddress(local.host, static_cast<std::uint16_t>(port));
    try {
      router->bind(endpoint);
    } catch (const zmq::error_t& error) {
      reason = Reason(error);
      continue;
    }
    const std::string bound = router->get(zmq::sockopt::last_endpoint);
    const std::string port_text = bound.substr(bound.rfind(':') + 1);
    SLACKLINE_ASSIGN_OR_RETURN(
        address, AdvertisedAddress(options.network.advertise, local,
                                   static_cast<std::uint16_t>(std::stoul(port_text))));
    return Status::Ok();
  }
  return Unavailable(
      StrCat("cannot listen on ", local.host, " port ", options.network.ports, ": ", reason,
             "; choose another --ports or --bind, or end the process that holds it"));
}

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::Create(Options options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->run_number = RunNumber(impl->options.run_id);
  impl->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (impl->wake_fd < 0) return Internal(StrCat("no event descriptor: ", std::strerror(errno)));
  try {
    if (impl->options.listen) SLACKLINE_RETURN_IF_ERROR(impl->Bind());
  } catch (const zmq::error_t& error) {
    return Internal(StrCat("ZeroMQ: ", Reason(error)));
  }
  return std::unique_ptr<ZmqTransport>(new ZmqTransport(std::move(impl)));
}

ZmqTransport::ZmqTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZmqTransport::~ZmqTransport() = default;

const std::string& ZmqTransport::address() const { return impl_->address; }
const TransportCounts& ZmqTransport::counts() const { return impl_->counts; }
void ZmqTransport::OnRefused(std::function<void(const Status&)> told) {
  impl_->told = std::move(told);
}

void ZmqTransport::Impl::DropLink(std::size_t index) {
  links[index].socket.set(zmq::sockopt::linger, 0);
  links.erase(links.begin() + static_cast<std::ptrdiff_t>(index));
  link_of.clear();
  for (std::size_t i = 0; i < links.size(); ++i) link_of[links[i].peer] = i;
}

Status ZmqTransport::Connect(NodeId peer, const std::string& address) {
  Impl& impl = *impl_;
  const auto here = std::find_if(impl.links.begin(), impl.links.end(),
                                 [&](const Impl::Link& link) { return link.address == address; });
  if (here != impl.links.end()) {
    if (here->peer == peer) return Status::Ok();
    if (IsAlias(here->peer)) {
      return InvalidArgument(StrCat("cannot connect node ", peer, " to '", address,
                                    "': that is where node ", here->peer,
                                    " is; it must advertise an address of its own"));
    }
    // Two links of one routing id at one listener would displace each other. The old one goes
    // first, so that it does not come in after the new one.
    impl.DropLink(static_cast<std::size_t>(here - impl.links.begin()));
  }
  try {
    zmq::socket_t socket(impl.context, zmq::socket_type::dealer);
    impl.Prepare(socket, address.find('[') != std::string::npos);
    const RoutingId id = RoutingIdOf(impl.options.self);
    socket.set(zmq::sockopt::routing_id, std::string_view(id.data(), id.size()));
    socket.connect(address);
    const auto [known, is_new] = impl.link_of.try_emplace(peer, impl.links.size());
    if (is_new) {
      impl.links.push_back({peer, address, std::move(socket)});
    } else {
      impl.links[known->second] = {peer, address, std::move(socket)};
    }
  } catch (const zmq::error_t& error) {
    return InvalidArgument(StrCat("cannot connect to '", address, "': ", Reason(error),
                                  "; an address is tcp://HOST:PORT"));
  }
  return Status::Ok();
}

// --- Sending ---

bool ZmqTransport::Impl::SendFrames(zmq::socket_t& socket, const RoutingId* id,
                                    const Frames& frames) {
  const auto more = zmq::send_flags::sndmore | zmq::send_flags::dontwait;
  try {
    if (id != nullptr && !socket.send(zmq::buffer(*id), more).has_value()) return false;
    const bool has_payload = !frames.payload.empty();
    if (!socket.send(ToZmq(frames.first), has_payload ? more : zmq::send_flags::dontwait)
             .has_value())
      return false;
    return !has_payload ||
           socket.send(ToZmq(frames.payload), zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {  // Nobody of that id is connected.
    return false;
  }
}

void ZmqTransport::Send(NodeId to, const Message& message, std::uint64_t number) {
  const Frames frames =
      Encode({.run = impl_->run_number, .sender = impl_->options.self, .number = number}, message);
  const auto link = impl_->link_of.find(to);
  bool sent = false;
  if (link != impl_->link_of.end()) {
    sent = impl_->SendFrames(impl_->links[link->second].socket, nullptr, frames);
  } else if (impl_->router.has_value()) {
    const RoutingId id = RoutingIdOf(to);
    sent = impl_->SendFrames(*impl_->router, &id, frames);
  }
  if (!sent) {
    ++impl_->counts.dropped;
    return;
  }
  ++impl_->counts.messages_sent;
  impl_->counts.bytes_sent += frames.first.size() + frames.payload.size();
}

// --- Receiving ---

std::size_t ZmqTransport::Receive(std::size_t limit, const Deliver& deliver) {
  const std::size_t sockets = impl_->links.size() + (impl_->router.has_value() ? 1 : 0);
  std::size_t received = 0;
  for (std::size_t tried = 0; tried < sockets && received < limit; ++tried) {
    const std::size_t at = (impl_->next_socket + tried) % sockets;
    const std::size_t share = std::max<std::size_t>(1, limit / sockets);
    for (std::size_t i = 0; i < share; ++i) {
      // `deliver` may make new links, and end old ones: look the socket up each time.
      const bool from_link = at < impl_->links.size();
      if (!from_link && !impl_->router.has_value()) break;
      if (!impl_->ReceiveFrom(from_link ? std::optional(at) : std::nullopt, deliver)) break;
      ++received;
    }
  }
  impl_->next_socket = sockets == 0 ? 0 : (impl_->next_socket + 1) % sockets;
  return received;
}

bool ZmqTransport::Impl::ReceiveFrom(std::optional<std::size_t> link, const Deliver& deliver) {
  zmq::socket_t& socket = link.has_value() ? links[*link].socket : *router;
  constexpr std::size_t kFramesMax = 3;
  std::array<zmq::message_t, kFramesMax> frames;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    zmq::message_t frame;
    try {
      if (!socket.recv(frame, zmq::recv_flags::dontwait).has_value()) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      return false;
    }
    counts.bytes_received += frame.size();
    more = frame.more();
    if (count < kFramesMax) frames[count] = std::move(frame);
    ++count;
  }
  std::optional<NodeId> link_peer;
  std::optional<NodeId> stranger;
  std::size_t first = 0;
  if (link.has_value()) {
    links[*link].heard = true;
    link_peer = links[*link].peer;
  } else {
    stranger = NodeOf(frames[0]);
    first = 1;
    if (!stranger.has_value()) {
      Refuse(DataLoss("a peer whose routing id is none of ours"), link_peer, std::nullopt, deliver);
      return true;
    }
  }
  if (count != first + 1 && count != first + 2) {
    Refuse(DataLoss(StrCat("a message of ", count - first, " frames; it has one or two")),
           link_peer, stranger, deliver);
    return true;
  }
  Result<Received> received =
      Decode(run_number, ToBuffer(std::move(frames[first])),
             count == first + 2 ? ToBuffer(std::move(frames[first + 1])) : Buffer());
  if (!received.ok()) {
    Refuse(received.status(), link_peer, stranger, deliver);
    return true;
  }
  if (const Status status = CheckSender(received->envelope.sender, link_peer, stranger);
      !status.ok()) {
    Refuse(status, link_peer, std::nullopt, deliver);
    return true;
  }
  ++counts.messages_received;
  deliver(link_peer.has_value() ? *link_peer : *stranger, std::move(received).value());
  return true;
}

Status ZmqTransport::Impl::CheckSender(NodeId sender, std::optional<NodeId> link_peer,
                                       std::optional<NodeId> stranger) const {
  if (link_peer.has_value()) {
    if (sender == *link_peer || IsAlias(*link_peer)) return Status::Ok();
    return DataLoss(StrCat("node ", sender, " answers where node ", *link_peer, " was"));
  }
  // Nor may a stranger have a name that means somebody else here.
  if (sender == *stranger && !IsAlias(*stranger) && *stranger != options.self) return Status::Ok();
  return DataLoss("a message that claims another sender than its connection");
}

void ZmqTransport::Impl::Refuse(const Status& status, std::optional<NodeId> link_peer,
                                std::optional<NodeId> stranger, const Deliver& deliver) {
  ++counts.refused;
  if (told) told(status);
  if (status.code() != StatusCode::kFailedPrecondition) return;
  const Refused refused{.code = status.code(), .retry = false, .message = status.message()};
  if (link_peer.has_value()) {
    // We chose this peer, and it is of another run or version: its owner should hear of it at once.
    deliver(*link_peer, Received{.envelope = {}, .message = refused});
  } else if (stranger.has_value()) {
    // In our own run and version, so that the stranger can name both values too. It does not
    // answer.
    const RoutingId id = RoutingIdOf(*stranger);
    SendFrames(*router, &id, Encode({.run = run_number, .sender = options.self}, refused));
  }
}

// --- Waiting ---

void ZmqTransport::Wait(Duration timeout) {
  std::vector<zmq::pollitem_t> items;
  items.push_back({nullptr, impl_->wake_fd, ZMQ_POLLIN, 0});
  if (impl_->router.has_value()) items.push_back({impl_->router->handle(), 0, ZMQ_POLLIN, 0});
  for (Impl::Link& link : impl_->links) items.push_back({link.socket.handle(), 0, ZMQ_POLLIN, 0});
  // Rounded up: waking a little early would only mean waiting once more.
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      timeout + std::chrono::microseconds(999));
  try {
    zmq::poll(items, std::max(ms, std::chrono::milliseconds(0)));
  } catch (const zmq::error_t&) {
    return;  // A signal; the caller looks around and waits again.
  }
  if ((items[0].revents & ZMQ_POLLIN) != 0) {
    std::uint64_t wakes;
    [[maybe_unused]] const auto got = read(impl_->wake_fd, &wakes, sizeof wakes);
  }
}

void ZmqTransport::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(impl_->wake_fd, &one, sizeof one);
}

}  // namespace slackline
