// SimNetwork: when a message of a simulated run arrives, and whether it does.
//
// Every process is at a site. Two sites are joined by one link each way, and all that crosses from
// one to the other shares it: a link carries one message after another, so many chunks, shards or
// workers never get more than its bandwidth. A message of b bytes occupies the link for
// b * 8 / gbps nanoseconds from max(now, link free) on, and arrives `latency` (and jitter) later.
// By default each process is its own site; regions put many processes at one. Or each pair of
// processes has a link of its own (SetOwnLinks).
//
// Faults and jitter of a link are drawn from its own stream, named by the two sites: a worker that
// is added shifts no draw of another link. A pure function of (options, seed, what was sent when).
//
// Not modelled: packets, TCP, acknowledgements, one network card shared by links to several sites.
#ifndef SLACKLINE_CORE_RUNTIME_SIM_NETWORK_H_
#define SLACKLINE_CORE_RUNTIME_SIM_NETWORK_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/config/options.h"
#include "core/runtime/link_model.h"
#include "core/wire/types.h"
#include "slackline/status.h"

namespace slackline {

inline constexpr Time kNever{std::numeric_limits<Time::rep>::max()};

// A time span of a fault on one process.
struct FaultWindow {
  Role role = Role::kWorker;
  std::uint32_t rank = 0;
  Time from{};
  Time to = kNever;
};

// Parses "worker1:FROM_MS:TO_MS" or "worker1:FROM_MS" (for ever). Roles: scheduler (no rank
// needed), server, worker, evaluator. Errors: kInvalidArgument naming the text.
Result<FaultWindow> ParseFaultWindow(std::string_view text);

struct LinkCounts {
  std::uint64_t messages = 0;       // Sent, whatever became of them.
  std::uint64_t payload_bytes = 0;  // Of all that occupied the link.
  std::uint64_t header_bytes = 0;   // Header and body; counted whether they take time or not.
  std::uint64_t dropped = 0;        // By loss or a partition; each copy of a duplicated one.
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
};

class SimNetwork {
 public:
  enum class Endpoint : std::uint32_t {};
  enum class Site : std::uint32_t {};

  // Arrival times of what was sent: none if it is lost, two if it is duplicated.
  class Arrivals {
   public:
    void Add(Time at) { times_[count_++] = at; }
    const Time* begin() const { return times_.data(); }
    const Time* end() const { return times_.data() + count_; }
    std::size_t size() const { return count_; }

   private:
    std::array<Time, 2> times_{};
    std::size_t count_ = 0;
  };

  // Errors: kInvalidArgument for chances outside [0, 1], negative numbers and bad partitions.
  static Result<SimNetwork> Create(const SimOptions& options, std::uint64_t seed);

  // A process at a site of its own, whose links to all others are as the options say.
  Endpoint AddEndpoint(Role role, std::uint32_t rank);
  // A place for several processes. Names of sites are part of every draw: keep them.
  Site AddSite(std::string_view name);
  // REQUIRES that the endpoint has sent nothing yet.
  void PlaceAt(Endpoint endpoint, Site site);
  // The link that carries everything from one site to another. REQUIRES that it was not used yet.
  void SetLink(Site from, Site to, const LinkModel& model);
  // That link, with the faults that the options ask of every link.
  LinkModel WithFaults(LinkModel model) const;
  // Between two processes at one site: a link of their own each way, like this. Default: no delay.
  void SetInside(Site site, const LinkModel& model);
  // False: only payloads take up bandwidth (as in published models). Default: true.
  void SetHeadersTakeTime(bool take_time) { headers_take_time_ = take_time; }
  // True: two processes at different sites have a link of their own each way, like the one between
  // their sites, and nothing is shared. Default: false. REQUIRES that nothing was sent yet.
  void SetOwnLinks(bool own) { own_links_ = own; }
  // What payloads take time as; they are counted by their real size. Default: as they are.
  void SetPayloadScale(const PayloadScale& scale) { scale_ = scale; }
  // What passes between processes of these two roles, either way, takes no time at all. It is
  // counted, and lost, doubled or cut off, as ever.
  void SetInstant(Role one, Role other) { instant_ = {one, other}; }
  // While it lasts, whatever is under way to or from the process is lost.
  void AddPartition(const FaultWindow& window) { partitions_.push_back(window); }
  const std::vector<FaultWindow>& partitions() const { return partitions_; }

  // REQUIRES calls in the order of `now`.
  Arrivals Send(Time now, Endpoint from, Endpoint to, std::uint64_t payload_bytes,
                std::uint64_t header_bytes);

  struct Link {
    std::string name;  // "worker0 -> server1", with regions "east -> west"
    LinkCounts counts;
  };
  // In the order of first use.
  std::vector<Link> Links() const;
  LinkCounts Total() const;

 private:
  struct EndpointState {
    Role role;
    std::uint32_t rank;
    Site site;
  };
  struct SiteState {
    std::string name;
    LinkModel inside;
  };
  struct LinkState {
    LinkModel model;
    std::string name;
    std::uint64_t stream = 0;  // Index of its random stream.
    LinkQueue queue;
    LinkCounts counts;
  };

  SimNetwork(const LinkModel& between, std::uint64_t seed) : between_(between), seed_(seed) {}

  LinkState& LinkOf(Endpoint from, Endpoint to);
  bool Instant(Endpoint from, Endpoint to) const;
  bool CutOff(Time sent, Time arrival, Endpoint from, Endpoint to) const;

  LinkModel between_;
  std::uint64_t seed_;
  bool headers_take_time_ = true;
  bool own_links_ = false;
  PayloadScale scale_;
  std::optional<std::pair<Role, Role>> instant_;
  std::vector<EndpointState> endpoints_;
  std::vector<SiteState> sites_;
  std::vector<LinkState> links_;
  // By the pair of sites, or of endpoints with a link of their own; looked up, never walked.
  std::unordered_map<std::uint64_t, std::uint32_t> link_between_sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> link_of_pair_;
  std::unordered_map<std::uint64_t, LinkModel> models_;
  std::vector<FaultWindow> partitions_;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_RUNTIME_SIM_NETWORK_H_
