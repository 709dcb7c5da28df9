#include "core/session/session.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/policy/placement.h"

namespace slackline {
namespace {

constexpr int kLongestRetry = 64;  // Times the shortest.

}  // namespace

Session::Session(Settings settings, const ParameterSpec& spec,
                 const std::vector<ServerEntry>& servers)
    : settings_(std::move(settings)),
      first_element_(servers.front().range.begin),
      dense_elements_(servers.back().range.end - first_element_),
      tables_(spec.tables),
      retry_(settings_.retry) {
  SLACKLINE_CHECK(settings_.chunk_elements > 0);
  for (const ServerEntry& server : servers) {
    shards_.push_back({.node = server.node, .rank = server.rank, .range = server.range});
  }
}

// --- A life begins and ends ---

void Session::Open(Time now, Outbox& out) { BeginLife(now, Life::kOpening, out); }

void Session::Close(Time now, Outbox& out) {
  SLACKLINE_CHECK(pushes_.empty());
  BeginLife(now, Life::kClosing, out);
}

void Session::BeginLife(Time now, Life life, Outbox& out) {
  life_ = life;
  life_asked_ = now;
  for (Shard& shard : shards_) shard.answered = false;
  SendLife(out);
  ArmTimer(now, out);
}

void Session::SendLife(Outbox& out) const {
  for (const Shard& shard : shards_) {
    if (shard.answered) continue;
    if (life_ == Life::kOpening) {
      out.SendTo(shard.node, SessionOpen{.rank = settings_.rank, .senders = settings_.senders});
    } else {
      out.SendTo(shard.node, SessionClose{.rank = settings_.rank});
    }
  }
}

// --- Pushing ---

void Session::StartPush(Time now, PushContent content, Outbox& out) {
  AddPush(now, std::move(content), nullptr, out);
}

void Session::StartPushAndPull(Time now, PushContent content, std::uint64_t round,
                               std::uint64_t own, Outbox& out) {
  SLACKLINE_CHECK(!pulling() && tables_.empty());
  InflightPull pull{.since = now, .own = own};
  pull.content.round = round;
  PreparePull(now, std::move(pull));
  for (std::size_t s = 0; s < shards_.size(); ++s) PrepareShard(s);
  AddPush(now, std::move(content), &*pull_, out);
}

void Session::AddPush(Time now, PushContent content, const InflightPull* with, Outbox& out) {
  SLACKLINE_CHECK(CanPush());
  SLACKLINE_CHECK(content.rejected || content.dense.size() == dense_elements_ * sizeof(float));
  InflightPush push{.seq = content.seq,
                    .since = now,
                    .sent = now,
                    .wait = retry_,
                    .left = shards_.size(),
                    .slices = {}};
  SLACKLINE_CHECK(content.versions.size() == shards_.size());
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    const Shard& shard = shards_[s];
    PushSlice slice;
    const auto add_chunk = [&](std::uint32_t table, std::uint64_t offset, std::uint64_t count,
                               Buffer payload) {
      bytes_pushed_ += payload.size();
      slice.chunks.emplace_back(Push{.rank = settings_.rank,
                                     .seq = content.seq,
                                     .table = table,
                                     .offset = offset,
                                     .count = count,
                                     .version = content.versions[s],
                                     .samples = content.samples,
                                     .rejected = content.rejected},
                                std::move(payload));
    };
    if (!content.rejected) {
      for (std::uint64_t at = 0; at < shard.range.size(); at += settings_.chunk_elements) {
        const std::uint64_t count = std::min(settings_.chunk_elements, shard.range.size() - at);
        add_chunk(kDense, at, count,
                  content.dense.Slice((shard.range.begin - first_element_ + at) * sizeof(float),
                                      count * sizeof(float)));
      }
      for (const Rows& rows : content.rows) {
        const std::size_t width = tables_[rows.table].width;
        std::vector<std::size_t> mine;
        for (std::size_t i = 0; i < rows.keys.size(); ++i) {
          if (RowOwner(rows.keys[i], static_cast<std::uint32_t>(shards_.size())) == s)
            mine.push_back(i);
        }
        if (mine.empty()) continue;
        Buffer payload =
            Buffer::Allocate(mine.size() * (sizeof(std::uint64_t) + width * sizeof(float)));
        std::byte* keys = payload.mutable_bytes().data();
        std::byte* values = keys + mine.size() * sizeof(std::uint64_t);
        for (std::size_t i = 0; i < mine.size(); ++i) {
          std::memcpy(keys + i * sizeof(std::uint64_t), &rows.keys[mine[i]], sizeof(std::uint64_t));
          std::memcpy(values + i * width * sizeof(float), &rows.values[mine[i] * width],
                      width * sizeof(float));
        }
        add_chunk(rows.table, 0, mine.size(), std::move(payload));
      }
    }
    // A shard with nothing to receive still has to hear that the round is done.
    if (slice.chunks.empty()) add_chunk(kDense, 0, 0, {});
    for (std::size_t i = 0; i < slice.chunks.size(); ++i) {
      auto& chunk = std::get<Push>(slice.chunks[i].body);
      chunk.chunk = static_cast<std::uint32_t>(i);
      chunk.chunks = static_cast<std::uint32_t>(slice.chunks.size());
    }
    if (with != nullptr) {
      auto& last = std::get<Push>(slice.chunks.back().body);
      last.pull_request = with->request;
      last.pull_round = with->content.round;
      last.pull_own = with->own;
    }
    push.slices.push_back(std::move(slice));
  }
  for (std::size_t s = 0; s < shards_.size(); ++s) SendSlice(push, s, out);
  pushes_.push_back(std::move(push));
  ArmTimer(now, out);
}

void Session::SendSlice(const InflightPush& push, std::size_t shard, Outbox& out) const {
  for (const Message& chunk : push.slices[shard].chunks) out.SendTo(shards_[shard].node, chunk);
}

void Session::OnPushAck(Time now, std::size_t shard, const PushAck& ack,
                        std::vector<SessionEvent>& events) {
  for (InflightPush& push : pushes_) {
    if (push.seq != ack.seq || push.slices[shard].done) continue;
    push.slices[shard].done = true;
    push.slices[shard].chunks.clear();
    push.outcome = std::max(push.outcome, ack.outcome);
    --push.left;
    break;
  }
  // Told in the order of seq, whatever the order of acknowledgements.
  while (!pushes_.empty() && pushes_.front().left == 0) {
    NoteAnswerTime(now - pushes_.front().since);
    events.push_back(PushDoneEvent{pushes_.front().seq, pushes_.front().outcome});
    pushes_.pop_front();
  }
}

// --- Pulling ---

void Session::StartPull(Time now, std::uint64_t round, std::uint64_t own, std::vector<Rows> rows,
                        Outbox& out) {
  SLACKLINE_CHECK(!pulling());
  InflightPull pull{.since = now, .own = own};
  pull.content.round = round;
  pull.content.rows = std::move(rows);
  BeginPull(now, std::move(pull), out);
}

void Session::StartPullCut(Time now, std::uint64_t cut, std::vector<Rows> rows, Outbox& out) {
  SLACKLINE_CHECK(!pulling());
  InflightPull pull{.since = now, .by_cut = true, .wanted_cut = cut};
  pull.content.rows = std::move(rows);
  BeginPull(now, std::move(pull), out);
}

void Session::PreparePull(Time now, InflightPull pull) {
  pull.request = next_request_++;
  pull.sent = now;
  pull.wait = retry_;
  const std::size_t bytes = dense_elements_ * sizeof(float);
  pull.content.dense = settings_.timing_only ? Buffer::TimingOnly(bytes) : Buffer::Allocate(bytes);
  for (Rows& rows : pull.content.rows)
    rows.values.resize(rows.keys.size() * tables_[rows.table].width);
  pull.content.versions.assign(shards_.size(), 0);
  pull.shards.assign(shards_.size(), {});
  pull.shards_left = shards_.size();
  pull_ = std::move(pull);
}

void Session::BeginPull(Time now, InflightPull pull, Outbox& out) {
  PreparePull(now, std::move(pull));
  // A cut is chosen by the lead: the others are asked for the one it names.
  const std::size_t ask = pull_->by_cut ? 1 : shards_.size();
  for (std::size_t s = 0; s < ask; ++s) AskShard(s, out);
  ArmTimer(now, out);
}

std::vector<Session::PullPart> Session::PartsFor(const InflightPull& pull,
                                                 std::size_t shard) const {
  std::vector<PullPart> parts;
  const bool or_later = pull.by_cut && shard == 0;
  const Pull body{.request = pull.request,
                  .rank = settings_.rank,
                  .round = pull.content.round,
                  .own = pull.own,
                  .cut = pull.by_cut ? pull.wanted_cut : 0,
                  .or_later = or_later};
  parts.push_back({.request = body, .places = {}, .chunks_seen = {}});
  for (std::uint32_t set = 0; set < pull.content.rows.size(); ++set) {
    const Rows& rows = pull.content.rows[set];
    PullPart part{.request = {}, .rows = set, .places = {}, .chunks_seen = {}};
    std::vector<std::uint64_t> keys;
    for (std::uint32_t i = 0; i < rows.keys.size(); ++i) {
      if (RowOwner(rows.keys[i], static_cast<std::uint32_t>(shards_.size())) != shard) continue;
      keys.push_back(rows.keys[i]);
      part.places.push_back(i);
    }
    if (keys.empty()) continue;
    Pull rows_body = body;
    rows_body.table = rows.table;
    rows_body.count = keys.size();
    part.request = Message(rows_body, Buffer::CopyOf(std::as_bytes(std::span(keys))));
    parts.push_back(std::move(part));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& pull_body = std::get<Pull>(parts[i].request.body);
    pull_body.part = static_cast<std::uint32_t>(i);
    pull_body.parts = static_cast<std::uint32_t>(parts.size());
  }
  return parts;
}

void Session::PrepareShard(std::size_t shard) {
  ShardPull& asked = pull_->shards[shard];
  asked.asked = true;
  asked.parts = PartsFor(*pull_, shard);
  asked.parts_left = asked.parts.size();
}

void Session::AskShard(std::size_t shard, Outbox& out) {
  PrepareShard(shard);
  const ShardPull& asked = pull_->shards[shard];
  for (const PullPart& part : asked.parts) out.SendTo(shards_[shard].node, part.request);
}

void Session::OnPullReply(Time now, std::size_t shard, const PullReply& reply,
                          const Buffer& payload, Outbox& out, std::vector<SessionEvent>& events) {
  if (!pull_.has_value() || reply.request != pull_->request) return;
  ShardPull& asked = pull_->shards[shard];
  if (!asked.asked || reply.part >= asked.parts.size() || asked.parts[reply.part].done) return;
  if (reply.gone) {  // The cut went while we were asking: begin again with what there is now.
    InflightPull again = std::move(*pull_);
    again.wanted_cut = again.wanted_cut + 1;
    BeginPull(now, std::move(again), out);
    return;
  }
  PullPart& part = asked.parts[reply.part];
  // Chunks of one answer come from one version. A repeated request may be answered from a newer
  // one: then the older chunks count no more.
  if (part.chunks_seen.empty() || reply.version != asked.version) {
    for (PullPart& other : asked.parts) {
      if (reply.version == asked.version && &other != &part) continue;
      asked.parts_left += other.done ? 1 : 0;
      other.done = false;
      other.chunks_seen.clear();
    }
    asked.version = reply.version;
    part.chunks_seen.assign(reply.chunks, false);
    part.chunks_left = reply.chunks;
    part.values_left = shards_[shard].range.size();
  }
  if (reply.chunk >= part.chunks_seen.size() || part.chunks_seen[reply.chunk]) return;
  const bool placed = Place(shard, part, reply, payload);
  // To a worker that asked for one round too many there is nothing to show.
  const bool no_round = reply.last && !pull_->by_cut;
  const bool short_of = part.chunks_left == 1 && reply.table == kDense && part.values_left != 0;
  if (!placed || (short_of && !no_round)) {
    events.push_back(SessionFencedEvent{
        DataLoss(StrCat("server ", shards_[shard].rank, " answered a pull with ", reply.count,
                        " values at ", reply.offset, ", which is not what was asked"))});
    return;
  }
  bytes_pulled_ += payload.size();
  part.chunks_seen[reply.chunk] = true;
  if (--part.chunks_left > 0) return;
  part.done = true;
  if (--asked.parts_left > 0) return;

  PullContent& content = pull_->content;
  content.versions[shard] = reply.version;
  // What the lead says of the run as a whole is what counts.
  if (shard == 0) {
    content.samples = reply.samples;
    content.data_begin = reply.data_begin;
    content.cut = reply.cut;
    content.last = reply.last;
  }
  --pull_->shards_left;
  if (shard == 0 && pull_->by_cut) {
    pull_->wanted_cut = reply.cut;
    for (std::size_t s = 1; s < shards_.size(); ++s) AskShard(s, out);
  }
  if (pull_->shards_left == 0) FinishPull(now, out, events);
}

bool Session::Place(std::size_t shard, PullPart& part, const PullReply& reply,
                    const Buffer& payload) {
  const auto& asked = std::get<Pull>(part.request.body);
  if (reply.table != asked.table) return false;
  if (asked.table == kDense) {
    const ShardRange& range = shards_[shard].range;
    if (reply.offset > range.size() || reply.count > range.size() - reply.offset) return false;
    if (reply.count > part.values_left) return false;
    part.values_left -= reply.count;
    if (reply.count == 0 || settings_.timing_only) return true;
    if (payload.size() != reply.count * sizeof(float)) return false;
    std::memcpy(pull_->content.dense.mutable_bytes().data() +
                    (range.begin - first_element_ + reply.offset) * sizeof(float),
                payload.bytes().data(), payload.size());
    return true;
  }
  Rows& rows = pull_->content.rows[part.rows];
  const std::size_t row_bytes = tables_[rows.table].width * sizeof(float);
  if (reply.chunks != 1 || reply.count != part.places.size()) return false;
  if (payload.size() != part.places.size() * row_bytes) return false;
  for (std::size_t i = 0; i < part.places.size(); ++i) {
    std::memcpy(rows.values.data() + part.places[i] * tables_[rows.table].width,
                payload.bytes().data() + i * row_bytes, row_bytes);
  }
  return true;
}

void Session::FinishPull(Time now, Outbox& out, std::vector<SessionEvent>& events) {
  const auto differs = [&](const ShardPull& s) { return s.version != pull_->shards[0].version; };
  if (settings_.one_version && std::any_of(pull_->shards.begin(), pull_->shards.end(), differs)) {
    // A repeated request was answered later by one shard than by another: ask all once more.
    BeginPull(now, std::move(*pull_), out);
    return;
  }
  NoteAnswerTime(now - pull_->since);
  PullContent content = std::move(pull_->content);
  pull_.reset();
  events.push_back(PullDoneEvent{std::move(content)});
}

// --- Inputs ---

bool Session::OnMessage(Time now, NodeId from, const Message& message, Outbox& out,
                        std::vector<SessionEvent>& events) {
  const std::optional<std::size_t> shard = ShardOf(from);
  if (!shard.has_value()) return false;
  const auto answered = [&](Life asked) {
    if (life_ != asked) return false;
    shards_[*shard].answered = true;
    return std::all_of(shards_.begin(), shards_.end(), [](const Shard& s) { return s.answered; });
  };
  if (const auto* ack = std::get_if<PushAck>(&message.body)) {
    if (ack->rank != settings_.rank) return false;
    OnPushAck(now, *shard, *ack, events);
  } else if (const auto* reply = std::get_if<PullReply>(&message.body)) {
    if (reply->rank != settings_.rank) return false;
    if (reply->acknowledged > 0) {
      OnPushAck(now, *shard, {.rank = reply->rank, .seq = reply->acknowledged - 1}, events);
    }
    OnPullReply(now, *shard, *reply, message.payload, out, events);
  } else if (const auto* opened = std::get_if<SessionOpened>(&message.body)) {
    if (opened->rank != settings_.rank) return false;
    shards_[*shard].next_seq = opened->next_seq;
    if (answered(Life::kOpening)) {
      life_ = Life::kOpen;
      std::uint64_t next = shards_[0].next_seq;
      for (const Shard& s : shards_) next = std::min(next, s.next_seq);
      events.push_back(SessionOpenedEvent{next});
    }
  } else if (const auto* closed = std::get_if<SessionClosed>(&message.body)) {
    if (closed->rank != settings_.rank) return false;
    if (answered(Life::kClosing)) {
      life_ = Life::kClosed;
      events.push_back(SessionClosedEvent{});
    }
  } else if (const auto* refused = std::get_if<Refused>(&message.body)) {
    if (!refused->retry) {
      events.push_back(SessionFencedEvent{{refused->code, StrCat("server ", shards_[*shard].rank,
                                                                 " refused: ", refused->message)}});
    }
  } else {
    return false;
  }
  return true;
}

void Session::OnTimer(Time now, Outbox& out) {
  timer_armed_ = false;
  const auto overdue = [&](Time sent) { return now - sent >= settings_.retry; };
  if ((life_ == Life::kOpening || life_ == Life::kClosing) && overdue(life_asked_)) {
    life_asked_ = now;
    SendLife(out);
  }
  for (InflightPush& push : pushes_) {
    if (now - push.sent < push.wait) continue;
    push.sent = now;
    push.wait = std::min(2 * push.wait, kLongestRetry * settings_.retry);
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (push.slices[s].done) continue;
      ++retried_;
      SendSlice(push, s, out);
    }
  }
  if (pull_.has_value() && now - pull_->sent >= pull_->wait) {
    pull_->sent = now;
    pull_->wait = std::min(2 * pull_->wait, kLongestRetry * settings_.retry);
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (!pull_->shards[s].asked || pull_->shards[s].parts_left == 0) continue;
      // All parts: an answer comes from one version, so the parts are answered together.
      for (const PullPart& part : pull_->shards[s].parts) out.SendTo(shards_[s].node, part.request);
    }
  }
  ArmTimer(now, out);
}

void Session::NoteAnswerTime(Duration took) {
  retry_ = std::clamp(2 * took, settings_.retry, kLongestRetry * settings_.retry);
}

void Session::ArmTimer(Time now, Outbox& out) {
  const bool waiting =
      life_ == Life::kOpening || life_ == Life::kClosing || !pushes_.empty() || pull_.has_value();
  if (!waiting || timer_armed_) return;
  timer_armed_ = true;
  out.SetTimer(kSessionTimer, now + settings_.retry);
}

std::optional<std::size_t> Session::ShardOf(NodeId node) const {
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    if (shards_[s].node == node) return s;
  }
  return std::nullopt;
}

std::vector<Wait> Session::Waits(Time now) const {
  std::vector<Wait> waits;
  const auto add = [&](std::string what, Time since, auto is_missing) {
    std::vector<std::string> missing;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (is_missing(s)) missing.push_back(StrCat("server ", shards_[s].rank));
    }
    if (missing.empty()) return;
    waits.push_back(
        {std::move(what), StrJoin(missing), static_cast<std::uint64_t>((now - since).count())});
  };
  if (life_ == Life::kOpening || life_ == Life::kClosing) {
    add(life_ == Life::kOpening ? "session" : "farewell", life_asked_,
        [&](std::size_t s) { return !shards_[s].answered; });
  }
  if (!pushes_.empty()) {
    add(StrCat("acknowledgement of push ", pushes_.front().seq), pushes_.front().since,
        [&](std::size_t s) { return !pushes_.front().slices[s].done; });
  }
  if (pull_.has_value()) {
    add(pull_->by_cut ? "cut" : StrCat("parameters of round ", pull_->content.round), pull_->since,
        [&](std::size_t s) { return pull_->shards[s].asked && pull_->shards[s].parts_left > 0; });
  }
  return waits;
}

void Session::AddTo(Digest& digest) const {
  digest.Add(static_cast<std::uint64_t>(life_));
  digest.Add(next_request_);
  digest.Add(pushes_.size());
  for (const InflightPush& push : pushes_) digest.Add(push.seq * 64 + push.left);
  digest.Add(pull_.has_value() ? pull_->shards_left + 1 : 0);
}

}  // namespace slackline
