// ZmqTransport: messages to and from peers over ZeroMQ, and the only file that knows ZeroMQ.
//
// A process that listens has one ROUTER; every connection it makes is a DEALER. Its routing id is
// the letter 'S' and the 8 bytes of its NodeId, so a listener knows who sent a message and can
// answer. Payloads are handed to ZeroMQ without a copy, and received ones are used where they lie.
//
// It promises no delivery: a peer that is not there, or a queue that is full, loses the message,
// which is counted. Whoever needs an answer asks again.
//
// Threads: one, but for Wake.
#ifndef SLACKLINE_CORE_RUNTIME_ZMQ_TRANSPORT_H_
#define SLACKLINE_CORE_RUNTIME_ZMQ_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/time.h"
#include "core/config/options.h"
#include "core/wire/codec.h"
#include "core/wire/types.h"
#include "slackline/status.h"

namespace slackline {

struct TransportCounts {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_sent = 0;  // Headers and bodies included.
  std::uint64_t bytes_received = 0;
  std::uint64_t dropped = 0;  // Sends to nobody, or into a full queue.
  std::uint64_t refused = 0;  // Received frames that are no message for us.
};

class ZmqTransport {
 public:
  struct Options {
    NodeId self = kNoNode;
    std::string run_id;
    bool listen = false;
    NetworkOptions network;  // bind, ports and advertise; used when listening.
  };
  // Binds, when listening. Errors: kUnavailable for an address or ports in use, kNotFound for a
  // host or interface that is not there, kInvalidArgument for text that means nothing; each with
  // the address, the system's reason and what to do.
  static Result<std::unique_ptr<ZmqTransport>> Create(Options options);
  // Waits for what is queued to leave, a second at most.
  ~ZmqTransport();

  // What others connect to, "tcp://host:port"; "" when not listening.
  const std::string& address() const;

  // From now on messages to `peer` go to `address`, which need not be there yet. Another peer that
  // lived at this address is gone: its link ends, and what is sent to it is dropped.
  // Errors: kInvalidArgument for an address that means nothing, or that an alias has.
  Status Connect(NodeId peer, const std::string& address);

  // `number` names the message among all that this process sends.
  void Send(NodeId to, const Message& message, std::uint64_t number);

  // A message, and the peer it came from as a Node knows it: by the NodeId given to Connect, or
  // else by its own. What comes from another than the peer connected to is refused, unless that
  // was an alias. A peer that we connected to and that turns out to be of another run or version
  // shows as a Refused message from it.
  using Deliver = std::function<void(NodeId from, Received received)>;
  // Hands out what has arrived, at most `limit` messages. Returns how many.
  std::size_t Receive(std::size_t limit, const Deliver& deliver);
  // Told of refused frames; by peer text and reason. May be empty.
  void OnRefused(std::function<void(const Status&)> told);

  // Sleeps until something arrives, somebody calls Wake, or `timeout` has passed.
  void Wait(Duration timeout);
  // From any thread, and from signal handlers.
  void Wake();

  const TransportCounts& counts() const;

 private:
  struct Impl;
  explicit ZmqTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_ZMQ_TRANSPORT_H_
