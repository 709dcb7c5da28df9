#include "core/policy/collector.h"

#include <deque>

#include "core/base/strings.h"

namespace slackline {
namespace {

class EachArrival : public Collector {
 public:
  std::string_view name() const override { return "each"; }
  void Offer(const ClockTable&, const OfferedPush& push, std::vector<Verdict>& out) override {
    out.push_back({.apply = !push.rejected, .pushes = {push}});
  }
  void OnLeave(const ClockTable&, std::vector<Verdict>&) override {}
};

class AllInRankOrder : public Collector {
 public:
  explicit AllInRankOrder(std::uint32_t workers) : held_(workers) {}

  std::string_view name() const override { return "all"; }
  void Offer(const ClockTable& clocks, const OfferedPush& push,
             std::vector<Verdict>& out) override {
    std::deque<OfferedPush>& held = held_[push.rank];
    if (held.empty()) ++ranks_with_pushes_;
    held.push_back(push);
    Decide(clocks, out);
  }
  void OnLeave(const ClockTable& clocks, std::vector<Verdict>& out) override {
    Decide(clocks, out);
  }

 private:
  // A worker leaves only when all its pushes are decided, so whoever holds pushes is active.
  void Decide(const ClockTable& clocks, std::vector<Verdict>& out) {
    while (ranks_with_pushes_ > 0 && ranks_with_pushes_ == clocks.active()) {
      Verdict verdict{.apply = false, .pushes = {}};
      for (std::deque<OfferedPush>& held : held_) {
        if (held.empty()) continue;
        verdict.apply |= !held.front().rejected;
        verdict.pushes.push_back(held.front());
        held.pop_front();
        if (held.empty()) --ranks_with_pushes_;
      }
      out.push_back(std::move(verdict));
    }
  }

  std::vector<std::deque<OfferedPush>> held_;  // By rank; bounded by the pushes in flight.
  std::uint32_t ranks_with_pushes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Collector>> MakeCollector(std::string_view name, std::uint32_t workers) {
  if (name == "each") return std::unique_ptr<Collector>(new EachArrival);
  if (name == "all") return std::unique_ptr<Collector>(new AllInRankOrder(workers));
  return InvalidArgument(
      StrCat("no collector '", name, "'; there are ", StrJoin(CollectorNames())));
}

std::vector<std::string_view> CollectorNames() { return {"each", "all"}; }

}  // namespace slackline
