#include "core/runtime/sim_network.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/strings.h"
#include "slackline/random.h"

namespace slackline {
namespace {

std::uint64_t PairKey(std::uint32_t from, std::uint32_t to) {
  return std::uint64_t{from} << 32 | to;
}

std::uint64_t StreamOf(const std::string& link_name) {
  Digest digest;
  digest.Add(std::as_bytes(std::span(link_name)));
  return digest.value();
}

// A number of milliseconds as a Time; the limit keeps sums of times in range.
std::optional<Time> ParseMilliseconds(std::string_view text) {
  constexpr double kMillisecondsMax = 1e12;
  double ms = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, ms);
  if (error != std::errc() || stop != end || !(ms >= 0 && ms <= kMillisecondsMax)) {
    return std::nullopt;
  }
  return FromSeconds(ms * 1e-3);
}

bool ParseProcess(std::string_view text, FaultWindow& window) {
  for (const Role role : {Role::kScheduler, Role::kServer, Role::kWorker, Role::kEvaluator}) {
    const std::string_view name = RoleName(role);
    if (!text.starts_with(name)) continue;
    window.role = role;
    const std::string_view digits = text.substr(name.size());
    if (digits.empty()) return role == Role::kScheduler;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), window.rank);
    return error == std::errc() && stop == digits.data() + digits.size();
  }
  return false;
}

bool IsChance(double value) { return value >= 0 && value <= 1; }
bool IsMilliseconds(double value) { return value >= 0 && value <= 1e12; }

Result<LinkModel> ModelFrom(const SimOptions& options) {
  if (!(options.link_gbps >= 0) || !std::isfinite(options.link_gbps)) {
    return InvalidArgument(StrCat("--link-gbps ", options.link_gbps, " is not a bandwidth"));
  }
  for (const double ms : {options.link_latency_ms, options.link_jitter_ms, options.reorder_ms}) {
    if (!IsMilliseconds(ms)) {
      return InvalidArgument(
          StrCat("a link's latency, jitter or reorder time of ", ms, " ms is not in [0, 1e12]"));
    }
  }
  for (const double chance : {options.loss, options.duplicate, options.reorder}) {
    if (!IsChance(chance)) {
      return InvalidArgument(
          StrCat("a chance of loss, duplication or reordering of ", chance, " is not in [0, 1]"));
    }
  }
  LinkModel model;
  model.gbps = options.link_gbps;
  model.latency = FromSeconds(options.link_latency_ms * 1e-3);
  model.jitter = FromSeconds(options.link_jitter_ms * 1e-3);
  model.loss = options.loss;
  model.duplicate = options.duplicate;
  model.reorder = options.reorder;
  model.reorder_by = FromSeconds(options.reorder_ms * 1e-3);
  return model;
}

}  // namespace

Result<FaultWindow> ParseFaultWindow(std::string_view text) {
  const std::vector<std::string> parts = StrSplit(text, ':');
  FaultWindow window;
  if ((parts.size() == 2 || parts.size() == 3) && ParseProcess(parts[0], window)) {
    const std::optional<Time> from = ParseMilliseconds(parts[1]);
    const std::optional<Time> to = parts.size() == 3 ? ParseMilliseconds(parts[2]) : kNever;
    if (from.has_value() && to.has_value() && *from < *to) {
      window.from = *from;
      window.to = *to;
      return window;
    }
  }
  return InvalidArgument(StrCat("'", text, "' is not ROLE+RANK:FROM_MS:TO_MS, as worker1:100:250"));
}

Result<SimNetwork> SimNetwork::Create(const SimOptions& options, std::uint64_t seed) {
  SLACKLINE_ASSIGN_OR_RETURN(const LinkModel model, ModelFrom(options));
  SimNetwork network(model, seed);
  for (const std::string& text : options.partition) {
    SLACKLINE_ASSIGN_OR_RETURN(const FaultWindow window, ParseFaultWindow(text));
    network.AddPartition(window);
  }
  return network;
}

SimNetwork::Endpoint SimNetwork::AddEndpoint(Role role, std::uint32_t rank) {
  const Site own = AddSite(StrCat(RoleName(role), rank));
  endpoints_.push_back({role, rank, own});
  return Endpoint{static_cast<std::uint32_t>(endpoints_.size() - 1)};
}

SimNetwork::Site SimNetwork::AddSite(std::string_view name) {
  sites_.push_back({std::string(name), LinkModel{}});
  return Site{static_cast<std::uint32_t>(sites_.size() - 1)};
}

void SimNetwork::PlaceAt(Endpoint endpoint, Site site) {
  endpoints_[static_cast<std::uint32_t>(endpoint)].site = site;
}

void SimNetwork::SetLink(Site from, Site to, const LinkModel& model) {
  const std::uint64_t key =
      PairKey(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
  SLACKLINE_CHECK(!link_between_sites_.contains(key));
  models_[key] = model;
}

void SimNetwork::SetInside(Site site, const LinkModel& model) {
  sites_[static_cast<std::uint32_t>(site)].inside = model;
}

LinkModel SimNetwork::WithFaults(LinkModel model) const {
  model.loss = between_.loss;
  model.duplicate = between_.duplicate;
  model.reorder = between_.reorder;
  model.reorder_by = between_.reorder_by;
  return model;
}

SimNetwork::LinkState& SimNetwork::LinkOf(Endpoint from, Endpoint to) {
  const EndpointState& sender = endpoints_[static_cast<std::uint32_t>(from)];
  const EndpointState& receiver = endpoints_[static_cast<std::uint32_t>(to)];
  const auto from_site = static_cast<std::uint32_t>(sender.site);
  const auto to_site = static_cast<std::uint32_t>(receiver.site);
  const bool inside = from_site == to_site;
  const bool of_pair = inside || own_links_;
  const std::uint64_t site_key = PairKey(from_site, to_site);
  const std::uint64_t key =
      of_pair ? PairKey(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to))
              : site_key;
  auto& index = of_pair ? link_of_pair_ : link_between_sites_;
  const auto [found, is_new] = index.try_emplace(key, static_cast<std::uint32_t>(links_.size()));
  if (is_new) {
    LinkState link;
    if (inside) {
      link.model = sites_[from_site].inside;
    } else {
      const auto model = models_.find(site_key);
      link.model = model == models_.end() ? between_ : model->second;
    }
    link.name = of_pair ? StrCat(RoleName(sender.role), sender.rank, " -> ",
                                 RoleName(receiver.role), receiver.rank)
                        : StrCat(sites_[from_site].name, " -> ", sites_[to_site].name);
    link.stream = StreamOf(link.name);
    links_.push_back(std::move(link));
  }
  return links_[found->second];
}

bool SimNetwork::Instant(Endpoint from, Endpoint to) const {
  if (!instant_.has_value()) return false;
  const Role sender = endpoints_[static_cast<std::uint32_t>(from)].role;
  const Role receiver = endpoints_[static_cast<std::uint32_t>(to)].role;
  return instant_ == std::pair(sender, receiver) || instant_ == std::pair(receiver, sender);
}

bool SimNetwork::CutOff(Time sent, Time arrival, Endpoint from, Endpoint to) const {
  const auto hits = [&](const FaultWindow& window, Endpoint endpoint) {
    const EndpointState& process = endpoints_[static_cast<std::uint32_t>(endpoint)];
    return process.role == window.role && process.rank == window.rank && sent < window.to &&
           arrival >= window.from;
  };
  return std::any_of(partitions_.begin(), partitions_.end(), [&](const FaultWindow& window) {
    return hits(window, from) || hits(window, to);
  });
}

SimNetwork::Arrivals SimNetwork::Send(Time now, Endpoint from, Endpoint to,
                                      std::uint64_t payload_bytes, std::uint64_t header_bytes) {
  LinkState& link = LinkOf(from, to);
  const RandomStream stream(seed_, RandomPurpose::kNetwork, link.stream);
  // Eight draws a message, used or not, so that one fault's chance does not shift another's draws.
  const std::uint64_t draw = 8 * link.counts.messages++;
  const auto happens = [&](double chance, std::uint64_t at) {
    return chance > 0 && stream.Uniform(at) < chance;
  };
  const bool lost = happens(link.model.loss, draw);
  const bool twice = happens(link.model.duplicate, draw + 1);
  const bool instant = Instant(from, to);
  const std::uint64_t bytes = scale_.Of(payload_bytes) + (headers_take_time_ ? header_bytes : 0);

  Arrivals arrivals;
  for (std::uint64_t copy = 0; copy < (twice ? 2u : 1u); ++copy) {
    const std::uint64_t own = draw + 2 + 3 * copy;
    const double jitter = link.model.jitter > 0ns ? stream.Uniform(own) : 0.0;
    Time arrival = instant ? now : link.queue.Occupy(link.model, now, bytes, jitter);
    link.counts.payload_bytes += payload_bytes;
    link.counts.header_bytes += header_bytes;
    if (happens(link.model.reorder, own + 1)) {
      arrival += Part(link.model.reorder_by, stream.Uniform(own + 2));
      ++link.counts.reordered;
    }
    if (lost || CutOff(now, arrival, from, to)) {
      ++link.counts.dropped;
      continue;
    }
    if (copy == 1) ++link.counts.duplicated;
    arrivals.Add(arrival);
  }
  return arrivals;
}

std::vector<SimNetwork::Link> SimNetwork::Links() const {
  std::vector<Link> links;
  for (const LinkState& link : links_) links.push_back({link.name, link.counts});
  return links;
}

LinkCounts SimNetwork::Total() const {
  LinkCounts total;
  for (const LinkState& link : links_) {
    total.messages += link.counts.messages;
    total.payload_bytes += link.counts.payload_bytes;
    total.header_bytes += link.counts.header_bytes;
    total.dropped += link.counts.dropped;
    total.duplicated += link.counts.duplicated;
    total.reordered += link.counts.reordered;
  }
  return total;
}

}  // namespace slackline
