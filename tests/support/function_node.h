// A Node whose answers a test gives as functions; what is not given is answered with nothing.
#ifndef SLACKLINE_TESTS_SUPPORT_FUNCTION_NODE_H_
#define SLACKLINE_TESTS_SUPPORT_FUNCTION_NODE_H_

#include <cstdint>
#include <functional>

#include "core/runtime/node.h"

namespace slackline {

struct FunctionNode : Node {
  std::function<void(Time now, Outbox& out)> on_start;
  std::function<void(Time now, NodeId from, const Message& message, Outbox& out)> on_message;
  std::function<void(Time now, TimerId timer, Outbox& out)> on_timer;
  std::function<void(Time now, JobId job, Outbox& out)> on_job_done;
  std::function<void(Time now, Outbox& out)> on_interrupt;
  std::function<std::uint64_t()> state_digest;

  void OnStart(Time now, Outbox& out) override {
    if (on_start) on_start(now, out);
  }
  void OnMessage(Time now, NodeId from, const Message& message, Outbox& out) override {
    if (on_message) on_message(now, from, message, out);
  }
  void OnTimer(Time now, TimerId timer, Outbox& out) override {
    if (on_timer) on_timer(now, timer, out);
  }
  void OnJobDone(Time now, JobId job, Outbox& out) override {
    if (on_job_done) on_job_done(now, job, out);
  }
  void OnInterrupt(Time now, Outbox& out) override {
    if (on_interrupt) on_interrupt(now, out);
  }
  std::uint64_t StateDigest() const override { return state_digest ? state_digest() : 0; }
};

}  // namespace slackline

#endif  // SLACKLINE_TESTS_SUPPORT_FUNCTION_NODE_H_
