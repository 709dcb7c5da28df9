// Node: a role's state machine, and Outbox: all that a Node can do to the world.
//
// A Node holds no socket, no thread, no clock and no random device. It is told the time and handed
// inputs; it answers by filling an Outbox. Two runtimes drive the very same Nodes: ZmqRuntime over
// real sockets and SimRuntime in virtual time. Given the same inputs a Node fills the same
// Outboxes, bit for bit, which is what record and replay rest on.
//
// Threads: a runtime calls a Node from one thread. Jobs run elsewhere, but see only what they
// captured: immutable Buffers, and a result object that the Node reads after OnJobDone.
#ifndef SLACKLINE_CORE_RUNTIME_NODE_H_
#define SLACKLINE_CORE_RUNTIME_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/runtime/report.h"
#include "core/runtime/trace.h"
#include "core/wire/messages.h"
#include "core/wire/types.h"
#include "slackline/status.h"

namespace slackline {

// Chosen by the Node. Setting a timer that is set already moves it.
enum class TimerId : std::uint64_t {};
// Chosen by the Node, never used twice by it.
enum class JobId : std::uint64_t {};

// Work too long for the reactor. `run` may be called on any thread, once; it must be a function of
// what it captured, so that a replay gives the same result. It leaves its result where the Node
// can find it (a shared object that nobody else touches before OnJobDone).
struct Job {
  enum class Kind : std::uint8_t { kCompute = 1, kApply = 2, kEvaluate = 3 };
  JobId id{};
  Kind kind = Kind::kCompute;
  std::uint32_t rank = 0;   // Of the role that asks, and ...
  std::uint64_t index = 0;  // ... which of its jobs this is: the round. Names the draw of its time.
  double work = 1.0;        // How much, in local steps, for models of time.
  std::function<void()> run;
};

struct Outbox {
  struct Send {
    NodeId to;
    Message message;
  };
  struct Timer {
    TimerId id;
    Time at;  // Due at once if already past.
  };
  struct Connect {
    NodeId node;
    std::string address;
    std::optional<std::uint32_t> region{};  // Where it is, for links between regions.
  };
  struct Located {  // Where a peer is that connected to us.
    NodeId node;
    std::uint32_t region;
  };
  struct Note {  // For the log that people read.
    enum class Level : std::uint8_t { kInfo, kWarning, kError } level;
    std::string text;
  };

  // Carried out before the sends. Regions are for ZmqRuntime, which does not know them otherwise;
  // they are no part of the log.
  std::vector<Connect> connects;
  std::vector<Located> located;
  std::optional<std::uint32_t> located_at;  // The region of this process, once it is known.
  std::vector<Send> sends;
  std::vector<Timer> timers;
  std::vector<Job> jobs;
  std::vector<TraceEvent> traces;
  std::vector<Report> reports;
  std::vector<Note> notes;
  bool exit = false;   // Everything above is carried out first.
  Status exit_status;  // Why, when it is not a good end.

  void SendTo(NodeId to, Message message) { sends.push_back({to, std::move(message)}); }
  void SetTimer(TimerId id, Time at) { timers.push_back({id, at}); }
  void Info(std::string text) { notes.push_back({Note::Level::kInfo, std::move(text)}); }
  void Warn(std::string text) { notes.push_back({Note::Level::kWarning, std::move(text)}); }
  void Exit(Status status) {
    exit = true;
    exit_status = std::move(status);
  }
  // Empties everything; keeps the memory.
  void Clear();
};

class Node {
 public:
  virtual ~Node() = default;

  // The first input.
  virtual void OnStart(Time now, Outbox& out) = 0;
  // `from` is the peer's NodeId; kSchedulerNode for whatever comes from the scheduler.
  virtual void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) = 0;
  virtual void OnTimer(Time now, TimerId timer, Outbox& out) = 0;
  virtual void OnJobDone(Time now, JobId job, Outbox& out) = 0;
  // Somebody (ctrl-C, SIGTERM) wants this process to end. The Node may finish what it must first.
  virtual void OnInterrupt(Time now, Outbox& out) = 0;

  // A fingerprint of all that decides how this Node will answer.
  virtual std::uint64_t StateDigest() const = 0;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_NODE_H_
