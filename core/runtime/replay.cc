#include "core/runtime/replay.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

const char* KindName(Input::Kind kind) {
  switch (kind) {
    case Input::Kind::kStart:
      return "start";
    case Input::Kind::kMessage:
      return "message";
    case Input::Kind::kTimer:
      return "timer";
    case Input::Kind::kJob:
      return "job";
    case Input::Kind::kInterrupt:
      return "interrupt";
  }
  return "unknown";
}

// A restarted scheduler may repeat (sender, number); the content tells the two apart.
struct MessageKey {
  NodeId sender;
  std::uint64_t number;
  std::uint64_t digest;

  auto operator<=>(const MessageKey&) const = default;
};

class Replayer {
 public:
  explicit Replayer(const std::vector<EventLog>& logs) {
    lives_.resize(logs.size());
    report_.logs = logs.size();
    for (std::size_t i = 0; i < logs.size(); ++i) lives_[i].log = &logs[i];
  }

  Result<ReplayReport> Run(const ReplayFactory& make_node) {
    for (Life& life : lives_) {
      SLACKLINE_ASSIGN_OR_RETURN(life.node, make_node(life.log->header));
      for (const EventRecord& record : life.log->records) {
        if (const auto* input = std::get_if<InputRecord>(&record)) {
          life.inputs.push_back(input);
          if (input->kind == Input::Kind::kMessage) ++messages_[KeyOf(*input)].uses;
        }
      }
    }
    for (std::size_t i = 0; i < lives_.size(); ++i) ready_.push_back(i);
    while (!ready_.empty() && !report_.difference.has_value()) {
      const std::size_t index = ready_.front();
      ready_.pop_front();
      Advance(index);
    }
    if (!report_.difference.has_value()) ListStopped();
    return std::move(report_);
  }

 private:
  struct Life {
    const EventLog* log = nullptr;
    std::unique_ptr<Node> node;
    std::vector<const InputRecord*> inputs;
    std::size_t next = 0;
    std::uint64_t sent = 0;
    std::set<JobId> jobs;  // Asked for, not delivered.
  };
  // A message that somebody's log asks for.
  struct Wanted {
    std::uint64_t uses = 0;  // How often it is still to be given.
    std::optional<Message> message;
    std::vector<std::size_t> waiting;
  };

  static MessageKey KeyOf(const InputRecord& input) {
    return {input.sender, input.number, input.message_digest};
  }

  // Gives one life its inputs until it lacks a message or is through.
  void Advance(std::size_t index) {
    Life& life = lives_[index];
    Outbox out;
    while (life.next < life.inputs.size()) {
      const InputRecord& input = *life.inputs[life.next];
      out.Clear();
      if (!Give(index, input, out)) return;
      ++report_.inputs;
      if (DigestOf(out) != input.outbox_digest) return Differ(life, input, "the outbox differs");
      ++life.next;
      TakeUp(life, out);
    }
    if (!life.log->end.has_value()) return;
    ++report_.final_states;
    if (life.node->StateDigest() != life.log->end->state_digest) {
      Differ(life, {.time = life.log->end->time}, "the final state differs");
    }
  }

  // False if the input cannot be given yet, or never.
  bool Give(std::size_t index, const InputRecord& input, Outbox& out) {
    Life& life = lives_[index];
    switch (input.kind) {
      case Input::Kind::kStart:
        life.node->OnStart(input.time, out);
        return true;
      case Input::Kind::kTimer:
        life.node->OnTimer(input.time, TimerId{input.number}, out);
        return true;
      case Input::Kind::kInterrupt:
        life.node->OnInterrupt(input.time, out);
        return true;
      case Input::Kind::kMessage: {
        Wanted& wanted = messages_[KeyOf(input)];
        if (!wanted.message.has_value()) {
          wanted.waiting.push_back(index);
          return false;
        }
        life.node->OnMessage(input.time, input.from, *wanted.message, out);
        if (--wanted.uses == 0) wanted.message.reset();
        return true;
      }
      case Input::Kind::kJob: {
        if (life.jobs.erase(JobId{input.number}) == 0) {
          Differ(life, input, StrCat("job ", input.number, " was never asked for"));
          return false;
        }
        life.node->OnJobDone(input.time, JobId{input.number}, out);
        return true;
      }
    }
    return false;
  }

  void TakeUp(Life& life, Outbox& out) {
    for (Outbox::Send& send : out.sends) {
      const auto wanted =
          messages_.find({life.log->header.node, ++life.sent, DigestOf(send.message)});
      if (wanted == messages_.end() || wanted->second.uses == 0) continue;
      wanted->second.message = std::move(send.message);
      for (const std::size_t waiting : wanted->second.waiting) ready_.push_back(waiting);
      wanted->second.waiting.clear();
    }
    for (const Job& job : out.jobs) {
      if (job.run) job.run();
      life.jobs.insert(job.id);
    }
  }

  void Differ(const Life& life, const InputRecord& input, std::string what) {
    const EventLogHeader& whose = life.log->header;
    report_.difference = ReplayDifference{whose.role, whose.rank, whose.node,     life.next,
                                          input.kind, input.time, std::move(what)};
  }

  void ListStopped() {
    for (const Life& life : lives_) {
      if (life.next == life.inputs.size()) continue;
      const InputRecord& input = *life.inputs[life.next];
      report_.stopped.push_back(StrCat(life.log->header.role, " ", life.log->header.rank,
                                       " at input ", life.next, " of ", life.inputs.size(),
                                       ": message ", input.number, " of node ", input.sender,
                                       " is in no log"));
    }
  }

  std::vector<Life> lives_;
  std::map<MessageKey, Wanted> messages_;
  std::deque<std::size_t> ready_;
  ReplayReport report_;
};

}  // namespace

std::string ReplayDifference::ToString() const {
  return StrCat(role, " ", rank, " (node ", node, "), input ", input, " (", KindName(kind), ") at ",
                Seconds(time), " s: ", what);
}

Result<ReplayReport> Replay(const std::vector<EventLog>& logs, const ReplayFactory& make_node) {
  return Replayer(logs).Run(make_node);
}

}  // namespace slackline
