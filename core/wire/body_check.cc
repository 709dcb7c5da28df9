#include "core/wire/body_check.h"

#include <algorithm>
#include <string>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

// `value` must be an enumerator; every enum of the wire is numbered without gaps.
template <typename Enum>
Status CheckEnum(const char* what, Enum value, Enum first, Enum last) {
  if (value >= first && value <= last) return Status::Ok();
  return DataLoss(StrCat(what, " ", static_cast<std::uint32_t>(value), " is unknown"));
}
Status CheckRole(Role role) { return CheckEnum("role", role, Role::kScheduler, Role::kObserver); }
Status CheckState(MemberState state) {
  return CheckEnum("state", state, MemberState::kJoining, MemberState::kStopped);
}
Status CheckPhase(Phase phase) {
  return CheckEnum("phase", phase, Phase::kForming, Phase::kStopping);
}

Status CheckSize(const char* what, std::size_t size, std::size_t limit) {
  if (size <= limit) return Status::Ok();
  return DataLoss(StrCat(what, " of size ", size, "; the limit is ", limit));
}

// Position `index` among `count`, of which there may be 1 to `limit`.
Status CheckIndex(const char* what, std::uint32_t index, std::uint32_t count, std::uint32_t limit) {
  if (index < count && count <= limit) return Status::Ok();
  return DataLoss(StrCat(what, " ", index, " of ", count, "; at most ", limit, " are possible"));
}

Status CheckSpec(const ParameterSpec& spec) {
  const Status status = CheckParameterSpec(spec);
  return status.ok() ? status : DataLoss(status.message());
}

void Cut(std::string& text, std::size_t limit) { text.resize(std::min(text.size(), limit)); }

Status CheckStatistics(Statistics& statistics) {
  if (!statistics.staleness.Valid()) return DataLoss("staleness histogram contradicts itself");
  if (statistics.waits.size() > kWaitsMax) statistics.waits.resize(kWaitsMax);
  for (Wait& wait : statistics.waits) {
    Cut(wait.what, kWaitTextBytesMax);
    Cut(wait.missing, kWaitTextBytesMax);
  }
  return Status::Ok();
}

Status Check(auto&) { return Status::Ok(); }

Status Check(Hello& hello) {
  SLACKLINE_RETURN_IF_ERROR(CheckRole(hello.role));
  SLACKLINE_RETURN_IF_ERROR(CheckSize("address", hello.address.size(), kAddressBytesMax));
  SLACKLINE_RETURN_IF_ERROR(CheckSize("agreement", hello.agreement.size(), kAgreementBytesMax));
  return CheckSpec(hello.parameters);
}

Status Check(Welcome& welcome) { return CheckRole(welcome.role); }

Status Check(Refused& refused) {
  Cut(refused.message, kReasonBytesMax);
  return CheckEnum("code", refused.code, StatusCode::kInvalidArgument, StatusCode::kInternal);
}

Status Check(Roster& roster) {
  Cut(roster.reason, kReasonBytesMax);
  SLACKLINE_RETURN_IF_ERROR(CheckPhase(roster.phase));
  SLACKLINE_RETURN_IF_ERROR(CheckSpec(roster.parameters));
  SLACKLINE_RETURN_IF_ERROR(CheckSize("list of servers", roster.servers.size(), kServersMax));
  const std::uint64_t elements = roster.parameters.dense_elements();
  for (const ServerEntry& server : roster.servers) {
    SLACKLINE_RETURN_IF_ERROR(CheckSize("address", server.address.size(), kAddressBytesMax));
    if (server.range.begin > server.range.end || server.range.end > elements) {
      return DataLoss(StrCat("server ", server.rank, " has [", server.range.begin, ", ",
                             server.range.end, ") of ", elements, " elements"));
    }
  }
  return Status::Ok();
}

Status Check(Heartbeat& heartbeat) {
  Cut(heartbeat.reason, kReasonBytesMax);
  SLACKLINE_RETURN_IF_ERROR(CheckState(heartbeat.state));
  return CheckStatistics(heartbeat.statistics);
}

Status Check(HeartbeatAck& ack) { return CheckState(ack.state); }

Status Check(StatusReply& reply) {
  SLACKLINE_RETURN_IF_ERROR(CheckPhase(reply.phase));
  for (MemberStatus& member : reply.members) {
    SLACKLINE_RETURN_IF_ERROR(CheckRole(member.role));
    SLACKLINE_RETURN_IF_ERROR(CheckState(member.state));
    SLACKLINE_RETURN_IF_ERROR(CheckStatistics(member.statistics));
  }
  return Status::Ok();
}

Status Check(BarrierEnter& enter) {
  return CheckSize("name", enter.name.size(), kBarrierNameBytesMax);
}

Status Check(Push& push) { return CheckIndex("chunk", push.chunk, push.chunks, kChunksMax); }

Status Check(PushAck& ack) {
  return CheckEnum("outcome", ack.outcome, PushOutcome::kApplied, PushOutcome::kRejected);
}

Status Check(SessionOpen& open) {
  return CheckSize("list of senders", open.senders.size(), kServersMax);
}

Status Check(Pull& pull) { return CheckIndex("part", pull.part, pull.parts, kPullPartsMax); }

Status Check(PullReply& reply) {
  return CheckIndex("chunk", reply.chunk, reply.chunks, kChunksMax);
}

Status Check(Decisions& decisions) {
  for (const Decision& entry : decisions.entries) {
    SLACKLINE_RETURN_IF_ERROR(
        CheckEnum("kind", entry.kind, Decision::Kind::kApply, Decision::Kind::kDetach));
    SLACKLINE_RETURN_IF_ERROR(CheckSize("list of senders", entry.senders.size(), kServersMax));
  }
  return Status::Ok();
}

}  // namespace

Status CheckBody(MessageBody& body) {
  return std::visit(
      [](auto& message) {
        const Status status = Check(message);
        if (status.ok()) return status;
        return DataLoss(StrCat(MessageTypeName(std::decay_t<decltype(message)>::kType), ": ",
                               status.message()));
      },
      body);
}

}  // namespace slackline
