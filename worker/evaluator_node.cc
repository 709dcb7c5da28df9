#include "worker/evaluator_node.h"

#include <algorithm>
#include <numeric>

#include "core/config/agreement.h"
#include "core/policy/decision_scope.h"

namespace slackline {
namespace {

constexpr TimerId kRepeatTimer{5};

std::shared_ptr<const std::vector<std::uint64_t>> AllExamples(const Dataset& data) {
  auto examples = std::make_shared<std::vector<std::uint64_t>>(data.examples);
  std::iota(examples->begin(), examples->end(), std::uint64_t{0});
  return examples;
}

}  // namespace

EvaluatorNode::EvaluatorNode(NodeId, const Options& options, std::shared_ptr<const Model> model,
                             std::shared_ptr<const Dataset> test)
    : options_(options),
      model_(std::move(model)),
      test_(std::move(test)),
      examples_(AllExamples(*test_)),
      member_(options.network,
              Hello{.role = Role::kEvaluator,
                    .preferred_rank = options.network.rank,
                    .address = {},
                    .agreement = Agreement(options),
                    .parameters = model_->spec()},
              [this](Time now) {
                Statistics statistics;
                if (session_.has_value()) statistics.waits = session_->Waits(now);
                return statistics;
              }) {}

void EvaluatorNode::OnStart(Time now, Outbox& out) { member_.Start(now, out); }

void EvaluatorNode::OnMessage(Time now, NodeId from, const Message& message, Outbox& out) {
  if (from == kSchedulerNode) {
    if (member_.OnMessage(now, from, message, out) == Member::Event::kRoster &&
        !session_.has_value() && member_.roster().phase == Phase::kRunning) {
      BeginEvaluating(now, out);
    }
    if (const auto* ack = std::get_if<EvaluationAck>(&message.body)) {
      std::erase_if(unacknowledged_, [&](const Evaluation& e) { return e.cut == ack->cut; });
      if (seen_last_ && unacknowledged_.empty() && member_.state() == MemberState::kWorking) {
        member_.SetState(now, MemberState::kFinished, out);
      }
    }
    return;
  }
  if (!session_.has_value()) return;
  std::vector<SessionEvent> events;
  session_->OnMessage(now, from, message, out, events);
  for (SessionEvent& event : events) {
    if (auto* pulled = std::get_if<PullDoneEvent>(&event))
      Evaluate(std::move(pulled->content), out);
    if (const auto* fenced = std::get_if<SessionFencedEvent>(&event))
      member_.Leave(now, fenced->status, out);
  }
}

void EvaluatorNode::OnTimer(Time now, TimerId timer, Outbox& out) {
  if (timer == kMemberTimer) return member_.OnTimer(now, out);
  if (timer == kSessionTimer) return session_->OnTimer(now, out);
  for (const Evaluation& evaluation : unacknowledged_) out.SendTo(kSchedulerNode, evaluation);
  if (!unacknowledged_.empty()) out.SetTimer(kRepeatTimer, now + member_.timeouts().transfer_retry);
}

void EvaluatorNode::OnInterrupt(Time now, Outbox& out) {
  member_.Leave(now, Unavailable("interrupted: this evaluator was asked to end"), out);
}

void EvaluatorNode::BeginEvaluating(Time now, Outbox& out) {
  const Roster& roster = member_.roster();
  // The global tier's: regions differ from it, and from one another.
  const std::vector<ServerEntry> servers(
      roster.servers.begin(),
      roster.servers.begin() +
          std::min<std::size_t>(options_.cluster.servers, roster.servers.size()));
  session_.emplace(Session::Settings{.rank = member_.rank(),
                                     .retry = member_.timeouts().transfer_retry,
                                     .one_version = DecidesByTier(options_),
                                     .timing_only = !options_.model.materialize},
                   model_->spec(), servers);
  for (const ServerEntry& server : servers) out.connects.push_back({server.node, server.address});
  AskForCut(now, out);
}

void EvaluatorNode::AskForCut(Time now, Outbox& out) {
  std::vector<Rows> rows;
  if (!model_->spec().tables.empty()) rows = model_->Keys(*test_, *examples_);
  session_->StartPullCut(now, next_cut_, std::move(rows), out);
}

void EvaluatorNode::Evaluate(PullContent cut, Outbox& out) {
  next_cut_ = cut.cut + 1;
  seen_last_ = cut.last;
  evaluating_ = std::make_shared<Evaluation>(
      Evaluation{.cut = cut.cut,
                 .version = *std::min_element(cut.versions.begin(), cut.versions.end()),
                 .samples = cut.samples,
                 .last = cut.last});
  Job job{.id = JobId{cut.cut}, .kind = Job::Kind::kEvaluate, .index = cut.cut, .run = [] {}};
  if (options_.model.materialize) {
    job.run = [model = model_, test = test_, examples = examples_, found = evaluating_,
               pulled = std::move(cut)] {
      const Evaluated sums =
          model->Evaluate(*test, *examples, {pulled.dense.floats(), pulled.rows});
      found->examples = sums.examples;
      found->loss = sums.examples == 0 ? 0.0 : sums.loss / static_cast<double>(sums.examples);
      found->metric = model->Metric(sums);
    };
  }
  out.jobs.push_back(std::move(job));
}

void EvaluatorNode::OnJobDone(Time now, JobId, Outbox& out) {
  unacknowledged_.push_back(*evaluating_);
  evaluating_.reset();
  out.SendTo(kSchedulerNode, unacknowledged_.back());
  out.SetTimer(kRepeatTimer, now + member_.timeouts().transfer_retry);
  if (!seen_last_) AskForCut(now, out);
}

std::uint64_t EvaluatorNode::StateDigest() const {
  Digest digest;
  member_.AddTo(digest);
  digest.Add(next_cut_);
  if (session_.has_value()) session_->AddTo(digest);
  return digest.value();
}

}  // namespace slackline
