#include "core/policy/exchange.h"

#include "core/base/check.h"

namespace slackline {

std::optional<Exchange> ExchangePolicy::Begin(bool draining) {
  const bool due = updates_ - merged_at_ >= accumulate_;
  const bool left = updates_ > (lossless_ ? sent_at_ : merged_at_);
  if (under_way_ || !(due || (draining && left))) return std::nullopt;
  const Exchange exchange{next_seq_++, samples_ - reported_};
  reported_ = samples_;
  sent_at_ = updates_;
  under_way_ = true;
  return exchange;
}

void ExchangePolicy::OnMerge(std::uint64_t global_samples) {
  SLACKLINE_CHECK(under_way_);
  under_way_ = false;
  merged_at_ = updates_;
  // What this region reported is among them; a lost count must not become a huge one.
  elsewhere_ = global_samples > reported_ ? global_samples - reported_ : 0;
}

}  // namespace slackline
