#include "core/policy/gate.h"

#include "core/base/strings.h"

namespace slackline {
namespace {

class SlackGate : public Gate {
 public:
  SlackGate(std::string_view name, std::uint32_t slack) : name_(name), slack_(slack) {}

  std::string_view name() const override { return name_; }
  bool Open(const ClockTable& clocks, std::uint32_t, std::uint64_t round) const override {
    return clocks.slowest() + slack_ >= round;
  }

 private:
  std::string_view name_;  // A literal.
  std::uint32_t slack_;
};

class OpenGate : public Gate {
 public:
  std::string_view name() const override { return "asp"; }
  bool Open(const ClockTable&, std::uint32_t, std::uint64_t) const override { return true; }
};

}  // namespace

std::string Gate::WaitsFor(const ClockTable& clocks) const {
  if (clocks.active() == 0) return "";
  return StrCat("worker ", clocks.slowest_rank(), " (clock ", clocks.slowest(), ")");
}

Result<std::unique_ptr<Gate>> MakeGate(std::string_view name, std::uint32_t slack) {
  if (name == "bsp") return std::unique_ptr<Gate>(new SlackGate("bsp", 0));
  if (name == "ssp") return std::unique_ptr<Gate>(new SlackGate("ssp", slack));
  if (name == "asp") return std::unique_ptr<Gate>(new OpenGate);
  return InvalidArgument(StrCat("no gate '", name, "'; there are ", StrJoin(GateNames())));
}

std::vector<std::string_view> GateNames() { return {"bsp", "ssp", "asp"}; }

}  // namespace slackline
