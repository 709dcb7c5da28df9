// What a listening process makes of strangers: it counts them, and goes on.
#include "core/runtime/zmq_transport.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "core/base/clock.h"
#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

// At a port that the system chooses, unless one is given.
std::unique_ptr<ZmqTransport> Listen(const std::string& run_id = "run", NodeId self = NodeId{1000},
                                     const std::string& port = "0") {
  NetworkOptions network;
  network.ports = port;
  auto transport =
      ZmqTransport::Create({.self = self, .run_id = run_id, .listen = true, .network = network});
  EXPECT_THAT(transport, IsOk());
  return std::move(transport).value();
}

std::unique_ptr<ZmqTransport> Client(NodeId self, const std::string& run_id = "run") {
  auto transport =
      ZmqTransport::Create({.self = self, .run_id = run_id, .listen = false, .network = {}});
  EXPECT_THAT(transport, IsOk());
  return std::move(transport).value();
}

std::string PortOf(const ZmqTransport& transport) {
  return transport.address().substr(transport.address().rfind(':') + 1);
}

// Receives until `done` says so; false after ten seconds.
template <typename Done>
bool ReceiveUntil(ZmqTransport& transport, const ZmqTransport::Deliver& deliver, Done done) {
  const SteadyClock clock;
  while (!done()) {
    if (clock.Now() > 10s) return false;
    if (transport.Receive(16, deliver) == 0) transport.Wait(20ms);
  }
  return true;
}

int ConnectRaw(const std::string& address) {
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// True once a good peer's message gets through.
bool StillServes(ZmqTransport& transport) {
  auto friendly = Client(NodeId{55});
  EXPECT_THAT(friendly->Connect(NodeId{1000}, transport.address()), IsOk());
  friendly->Send(NodeId{1000}, SessionOpen{.rank = 3}, 1);
  bool got = false;
  return ReceiveUntil(
      transport,
      [&](NodeId from, const Received& received) {
        got |= from == NodeId{55} && std::holds_alternative<SessionOpen>(received.message.body);
      },
      [&] { return got; });
}

TEST(ZmqTransportTest, FramesOfGarbageAreCountedAndHarmNobody) {
  auto transport = Listen();
  zmq::context_t context;
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.set(zmq::sockopt::routing_id, std::string("S1234567") + '8');
  stranger.connect(transport->address());
  const std::string garbage(200, 'x');
  for (int i = 0; i < 3; ++i) stranger.send(zmq::buffer(garbage), zmq::send_flags::none);
  stranger.send(zmq::message_t(), zmq::send_flags::none);
  for (int part = 0; part < 4; ++part)
    stranger.send(zmq::buffer(garbage), zmq::send_flags::sndmore);
  stranger.send(zmq::buffer(garbage), zmq::send_flags::none);

  const bool counted = ReceiveUntil(
      *transport, [](NodeId, const Received&) { ADD_FAILURE() << "delivered"; },
      [&] { return transport->counts().refused == 5; });

  EXPECT_TRUE(counted) << transport->counts().refused;
  EXPECT_TRUE(StillServes(*transport));
}

TEST(ZmqTransportTest, AFrameOf2To63BytesAnnouncedCostsNothing) {
  auto transport = Listen();
  const int fd = ConnectRaw(transport->address());
  // ZMTP 3.0: the greeting, a READY command of a DEALER, and the head of a long frame.
  std::string bytes("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\0NULL", 16);
  bytes.resize(64, '\0');
  const std::string ready(
      "\x05READY\x0BSocket-Type\0\0\0\x06"
      "DEALER\x08Identity\0\0\0\0",
      6 + 12 + 4 + 6 + 9 + 4);
  bytes += '\x04';
  bytes += static_cast<char>(ready.size());
  bytes += ready;
  bytes += '\x02';
  bytes += std::string("\x80\0\0\0\0\0\0\0", 8);
  bytes += std::string(1000, 'y');

  const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);

  EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(StillServes(*transport));
  close(fd);
}

TEST(ZmqTransportTest, BytesThatAreNoZeroMqAreLeftAlone) {
  auto transport = Listen();
  const int fd = ConnectRaw(transport->address());
  const std::string http = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";

  EXPECT_EQ(send(fd, http.data(), http.size(), MSG_NOSIGNAL), static_cast<ssize_t>(http.size()));

  EXPECT_TRUE(StillServes(*transport));
  close(fd);
}

TEST(ZmqTransportTest, AnotherRunIsToldBothNumbers) {
  auto transport = Listen("this");
  auto stranger = Client(NodeId{77}, "that");
  ASSERT_THAT(stranger->Connect(kSchedulerNode, transport->address()), IsOk());
  stranger->Send(kSchedulerNode, SessionOpen{.rank = 0}, 1);

  ASSERT_TRUE(ReceiveUntil(
      *transport, [](NodeId, const Received&) { ADD_FAILURE() << "delivered"; },
      [&] { return transport->counts().refused == 1; }));
  std::optional<Refused> told;
  ASSERT_TRUE(ReceiveUntil(
      *stranger,
      [&](NodeId from, const Received& received) {
        EXPECT_EQ(from, kSchedulerNode);
        told = std::get<Refused>(received.message.body);
      },
      [&] { return told.has_value(); }));

  EXPECT_FALSE(told->retry);
  EXPECT_NE(told->message.find(StrCat(RunNumber("this"))), std::string::npos) << told->message;
  EXPECT_NE(told->message.find(StrCat(RunNumber("that"))), std::string::npos) << told->message;
}

TEST(ZmqTransportTest, NobodySpeaksInAnothersName) {
  auto transport = Listen();
  // A connection with one routing id and messages that claim another sender.
  zmq::context_t context;
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.set(zmq::sockopt::routing_id, std::string("S1234567") + '8');
  stranger.connect(transport->address());
  const Frames frames =
      Encode({.run = RunNumber("run"), .sender = NodeId{55}, .number = 1}, SessionOpen{.rank = 3});
  stranger.send(zmq::buffer(frames.first.bytes().data(), frames.first.size()),
                zmq::send_flags::none);

  EXPECT_TRUE(ReceiveUntil(
      *transport, [](NodeId, const Received&) { ADD_FAILURE() << "delivered"; },
      [&] { return transport->counts().refused == 1; }));
}

TEST(ZmqTransportTest, NobodyPosesAsTheSchedulerOrAsTheListener) {
  auto transport = Listen();
  for (const NodeId posed : {kSchedulerNode, NodeId{1000}}) {
    const std::uint64_t refused = transport->counts().refused;
    auto impostor = Client(posed);
    ASSERT_THAT(impostor->Connect(NodeId{7}, transport->address()), IsOk());
    impostor->Send(NodeId{7}, SessionOpen{.rank = 3}, 1);

    EXPECT_TRUE(ReceiveUntil(
        *transport, [](NodeId, const Received&) { ADD_FAILURE() << "delivered"; },
        [&] { return transport->counts().refused == refused + 1; }));
  }
}

TEST(ZmqTransportTest, WhatIsSentBeforeThePeerIsThereArrivesWhenItComes) {
  auto early = Client(NodeId{55});
  auto place = Listen();
  const std::string address = place->address();
  const std::string port = PortOf(*place);
  place.reset();
  ASSERT_THAT(early->Connect(NodeId{1000}, address), IsOk());
  early->Send(NodeId{1000}, SessionOpen{.rank = 9}, 1);

  auto late = Listen("run", NodeId{1000}, port);

  bool got = false;
  EXPECT_TRUE(ReceiveUntil(
      *late, [&](NodeId, const Received&) { got = true; }, [&] { return got; }));
}

// Sends `number` there until `listener` has it: what is sent while a connection breaks may be lost.
bool Reaches(ZmqTransport& client, NodeId to, ZmqTransport& listener, std::uint64_t number) {
  const SteadyClock clock;
  for (bool got = false; !got;) {
    if (clock.Now() > 10s) return false;
    client.Send(to, SessionOpen{}, number);
    listener.Wait(20ms);
    listener.Receive(
        16, [&](NodeId, const Received& received) { got |= received.envelope.number == number; });
  }
  return true;
}

TEST(ZmqTransportTest, APeerThatComesBackAtItsPortAsAnotherTakesTheOldLinksPlace) {
  auto client = Client(NodeId{55});
  auto old_life = Listen("run", NodeId{1000});
  const std::string address = old_life->address();
  ASSERT_THAT(client->Connect(NodeId{1000}, address), IsOk());
  ASSERT_TRUE(Reaches(*client, NodeId{1000}, *old_life, 1));
  const std::string port = PortOf(*old_life);
  old_life.reset();
  auto new_life = Listen("run", NodeId{2000}, port);

  ASSERT_THAT(client->Connect(NodeId{2000}, address), IsOk());

  ASSERT_TRUE(Reaches(*client, NodeId{2000}, *new_life, 2));
  // An old link would come back some 50 ms later and take our name there: answers keep coming by
  // the new one for much longer.
  const SteadyClock clock;
  std::uint64_t answers = 0;
  while (clock.Now() < 500ms) {
    const std::uint64_t before = answers;
    new_life->Send(NodeId{55}, SessionClosed{}, 3);
    ASSERT_TRUE(ReceiveUntil(
        *client,
        [&](NodeId from, const Received&) {
          ASSERT_EQ(from, NodeId{2000});
          ++answers;
        },
        [&] { return answers > before; }));
  }
  const std::uint64_t dropped = client->counts().dropped;
  client->Send(NodeId{1000}, SessionOpen{}, 4);
  EXPECT_EQ(client->counts().dropped, dropped + 1);
  EXPECT_EQ(client->counts().refused, 0u);
}

TEST(ZmqTransportTest, AKnownPeerMayMoveToAnothersAddress) {
  auto client = Client(NodeId{55});
  auto first = Listen("run", NodeId{1000});
  auto second = Listen("run", NodeId{2000});
  ASSERT_THAT(client->Connect(NodeId{1000}, first->address()), IsOk());
  ASSERT_THAT(client->Connect(NodeId{2000}, second->address()), IsOk());
  ASSERT_TRUE(Reaches(*client, NodeId{1000}, *first, 1));
  ASSERT_TRUE(Reaches(*client, NodeId{2000}, *second, 2));
  const std::string port = PortOf(*first);
  first.reset();
  second.reset();
  second = Listen("run", NodeId{2000}, port);

  ASSERT_THAT(client->Connect(NodeId{2000}, second->address()), IsOk());

  EXPECT_TRUE(Reaches(*client, NodeId{2000}, *second, 3));
  const std::uint64_t dropped = client->counts().dropped;
  client->Send(NodeId{1000}, SessionOpen{}, 4);
  EXPECT_EQ(client->counts().dropped, dropped + 1);
}

TEST(ZmqTransportTest, AnAnswerFromAnotherThanThePeerConnectedToIsRefused) {
  auto client = Client(NodeId{55});
  auto impostor = Listen("run", NodeId{2000});
  ASSERT_THAT(client->Connect(NodeId{1000}, impostor->address()), IsOk());
  ASSERT_TRUE(Reaches(*client, NodeId{1000}, *impostor, 1));

  impostor->Send(NodeId{55}, SessionClosed{}, 2);

  EXPECT_TRUE(ReceiveUntil(
      *client, [](NodeId, const Received&) { ADD_FAILURE() << "delivered"; },
      [&] { return client->counts().refused == 1; }));
}

TEST(ZmqTransportTest, ThePeersOfAnAliasSpeakUnderIt) {
  auto client = Client(NodeId{55});
  auto scheduler = Listen("run", NodeId{2000});
  ASSERT_THAT(client->Connect(kSchedulerNode, scheduler->address()), IsOk());
  ASSERT_TRUE(Reaches(*client, kSchedulerNode, *scheduler, 1));
  // Nor does a peer that names the scheduler's address as its own take the scheduler away.
  EXPECT_THAT(client->Connect(NodeId{1000}, scheduler->address()),
              StatusIs(StatusCode::kInvalidArgument, scheduler->address()));

  scheduler->Send(NodeId{55}, SessionClosed{}, 2);

  bool got = false;
  EXPECT_TRUE(ReceiveUntil(
      *client, [&](NodeId from, const Received&) { got = from == kSchedulerNode; },
      [&] { return got; }));
}

TEST(ZmqTransportTest, APayloadGoesThroughWholeInFramesOfItsOwnOrNot) {
  auto transport = Listen();
  auto client = Client(NodeId{55});
  ASSERT_THAT(client->Connect(NodeId{1000}, transport->address()), IsOk());
  for (const std::size_t floats : {std::size_t{1}, std::size_t{255}, std::size_t{4096},
                                   std::size_t{4097}, std::size_t{1} << 20}) {
    Buffer payload = Buffer::Allocate(floats * sizeof(float));
    for (std::size_t i = 0; i < floats; ++i)
      payload.mutable_floats()[i] = static_cast<float>(i % 1000);
    client->Send(NodeId{1000}, Message(Push{.count = floats}, payload), 1);
    std::optional<Received> got;

    ASSERT_TRUE(ReceiveUntil(
        *transport, [&](NodeId, Received received) { got = std::move(received); },
        [&] { return got.has_value(); }));

    ASSERT_EQ(got->message.payload.size(), payload.size());
    EXPECT_EQ(
        std::memcmp(got->message.payload.bytes().data(), payload.bytes().data(), payload.size()),
        0);
  }
}

}  // namespace
}  // namespace slackline
