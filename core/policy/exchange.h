// ExchangePolicy: when a region exchanges with the global tier (HALoS, Kim et al., ICML 2025). Pure
// policy, asked by the region's lead for all its shards.
//
// An exchange sends the difference that K updates made and brings the global parameters back. At
// most one is under way; the region goes on meanwhile. K counts from the merge, not from the send.
#ifndef SLACKLINE_CORE_POLICY_EXCHANGE_H_
#define SLACKLINE_CORE_POLICY_EXCHANGE_H_

#include <cstdint>
#include <optional>

namespace slackline {

struct Exchange {
  std::uint64_t seq = 0;      // From 0, without gaps.
  std::uint64_t samples = 0;  // Of the updates since the exchange before.
};

class ExchangePolicy {
 public:
  // `lossless`: updates made while an exchange is under way are part of the next one, so a region
  // that drains must send them. REQUIRES accumulate > 0.
  ExchangePolicy(std::uint64_t accumulate, bool lossless)
      : accumulate_(accumulate), lossless_(lossless) {}

  // The region has made one more update; `samples` are behind all its updates so far.
  void OnUpdate(std::uint64_t samples) {
    ++updates_;
    samples_ = samples;
  }
  // The exchange that is due now, if one is; it is then under way. `draining`: no update will
  // follow, so what is left is sent, however little.
  std::optional<Exchange> Begin(bool draining);
  // The exchange under way was answered, by parameters that `global_samples` had been trained on
  // by all regions, and the answer is merged.
  void OnMerge(std::uint64_t global_samples);

  bool under_way() const { return under_way_; }
  // Exchanges that have been merged.
  std::uint64_t merged() const { return next_seq_ - (under_way_ ? 1 : 0); }
  // Samples that other regions had trained on, as far as this one has heard.
  std::uint64_t samples_elsewhere() const { return elsewhere_; }

 private:
  std::uint64_t accumulate_;
  bool lossless_;
  std::uint64_t updates_ = 0;
  std::uint64_t merged_at_ = 0;  // In updates; the newest merge, and ...
  std::uint64_t sent_at_ = 0;    // ... the newest send.
  std::uint64_t samples_ = 0;
  std::uint64_t reported_ = 0;  // In samples.
  std::uint64_t elsewhere_ = 0;
  std::uint64_t next_seq_ = 0;
  bool under_way_ = false;
};

}  // namespace slackline

#endif  // SLACKLINE_CORE_POLICY_EXCHANGE_H_
