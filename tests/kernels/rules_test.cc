#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/rule.h"
#include "slackline/random.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

constexpr float kGuard = 12345.0f;
constexpr std::size_t kGuards = 8;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<UpdateRule> Rule(std::string_view name, RuleOptions options = {}) {
  options.name = name;
  Result<std::unique_ptr<UpdateRule>> rule = MakeRule(options);
  EXPECT_THAT(rule, IsOk());
  return std::move(rule).value();
}

RuleOptions WithDecay(float decay) {
  RuleOptions h;
  h.weight_decay = decay;
  return h;
}

// Equality of bits, so that NaN equals itself and -0 does not equal 0.
std::vector<std::uint32_t> Bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::vector<float> Random(std::uint64_t stream, std::size_t count, float bound) {
  std::vector<float> values(count);
  const RandomStream random(7, RandomPurpose::kTest, stream);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.UniformFloat(i, bound);
  return values;
}

// Parameters and all of a rule's state, with guard zones behind each array.
struct Trained {
  Trained(const UpdateRule& rule, std::vector<float> parameters)
      : count(parameters.size()), w(std::move(parameters)), state(rule.state_slots()) {
    w.resize(count + kGuards, kGuard);
    for (std::vector<float>& slot : state) {
      slot.assign(count, 0.0f);
      slot.resize(count + kGuards, kGuard);
    }
  }

  // One update in place of the elements [begin, end).
  void Step(const UpdateRule& rule, const std::vector<float>& gradient, float lr,
            std::uint64_t step, std::size_t begin, std::size_t end) {
    std::vector<float*> slots;
    for (std::vector<float>& slot : state) slots.push_back(slot.data() + begin);
    rule.Apply(w.data() + begin, w.data() + begin, gradient.data() + begin, slots.data(),
               end - begin, lr, step);
  }
  void Step(const UpdateRule& rule, const std::vector<float>& gradient, float lr,
            std::uint64_t step) {
    Step(rule, gradient, lr, step, 0, count);
  }

  bool operator==(const Trained& other) const {
    for (std::size_t s = 0; s < state.size(); ++s) {
      if (Bits(state[s]) != Bits(other.state[s])) return false;
    }
    return Bits(w) == Bits(other.w);
  }
  bool GuardsIntact() const {
    const auto intact = [&](const std::vector<float>& v) {
      return std::all_of(v.begin() + static_cast<std::ptrdiff_t>(count), v.end(),
                         [](float x) { return x == kGuard; });
    };
    return intact(w) && std::all_of(state.begin(), state.end(), intact);
  }

  std::size_t count;
  std::vector<float> w;
  std::vector<std::vector<float>> state;
};

// --- Hand numbers ---
//
// Computed apart from this code, in plain Python in double precision, from the formulas as torch
// documents them (torch.optim.SGD, Adagrad, Adam, AdamW with their defaults for dampening,
// lr_decay, amsgrad). Per element, wd being the weight decay:
//   all but adamw: g = g + wd * w
//   sgd:           w -= lr * g
//   momentum:      m = mu * m + g;  w -= lr * m
//   nesterov:      m = mu * m + g;  w -= lr * (g + mu * m)
//   adagrad:       s += g * g;      w -= lr * g / (sqrt(s) + eps)
//   adam:          m = b1 * m + (1 - b1) * g;  v = b2 * v + (1 - b2) * g * g
//                  w -= lr * (m / (1 - b1**t)) / (sqrt(v / (1 - b2**t)) + eps)
//   adamw:         w -= lr * wd * w, and then as adam
// with mu = b1 = 0.9, b2 = 0.999, eps = 1e-8, lr = 0.1, wd = 0.01, each rounded to fp32 first,
// since that is what a rule is given.
constexpr std::size_t kElements = 5;
const std::vector<float> kStart = {1.0f, -2.0f, 0.5f, 0.0f, 3.0f};
const std::vector<std::vector<float>> kGradients = {{0.5f, -1.0f, 0.25f, 0.0f, -2.0f},
                                                    {-0.25f, 0.75f, 1.5f, 0.125f, 1.0f},
                                                    {1.0f, 1.0f, -0.5f, -0.75f, 0.0f},
                                                    {0.0f, -0.375f, 2.0f, 0.5f, -1.25f}};

struct HandCase {
  const char* rule;
  float decay;
  // Roundings of one step on the way from the parameters to the parameters, rounded up. The
  // tolerance is this many, for each of four steps, of half an ulp at 4, which bounds every value
  // here: 4 * roundings * 2^-24 * 4. Errors that m carries on reach the parameters only times lr.
  int roundings;
  double first[kElements];
  double last[kElements];
};

const HandCase kHandCases[] = {
    {"sgd",
     0.0f,
     1,
     {0.949999999255, -1.89999999851, 0.474999999627, 0.0, 3.20000000298},
     {0.874999998137, -2.03750000056, 0.174999995157, 0.0125000001863, 3.22500000335}},
    {"sgd",
     0.01f,
     2,
     {0.948999999262, -1.89799999852, 0.474499999631, 0.0, 3.197000003},
     {0.87120586922, -2.02956176772, 0.1733277682, 0.0124499876859, 3.21261849124}},
    {"momentum",
     0.0f,
     2,
     {0.949999999255, -1.89999999851, 0.474999999627, 0.0, 3.20000000298},
     {0.705800002566, -2.01185000525, -0.0974749969643, 0.0586249999199, 3.54179998981}},
    {"momentum",
     0.01f,
     3,
     {0.948999999262, -1.89799999852, 0.474499999631, 0.0, 3.197000003},
     {0.697221066193, -1.99429715751, -0.101247127655, 0.0585974874191, 3.51326950039}},
    {"nesterov",
     0.0f,
     3,
     {0.904999999776, -1.80999999955, 0.452499999888, 0.0, 3.38000000089},
     {0.610220007461, -2.04816500501, -0.362727487866, 0.0652624987165, 3.71261998126}},
    {"nesterov",
     0.01f,
     4,
     {0.903099999814, -1.80619999963, 0.451549999907, 0.0, 3.37430000101},
     {0.599233061684, -2.02485083495, -0.366909650385, 0.0651203879799, 3.67324305657}},
    {"adagrad",
     0.0f,
     5,
     {0.90000000051, -1.89999999951, 0.40000000251, 0.0, 3.10000000099},
     {0.857434203293, -1.99966092738, 0.254523355259, -0.0563048267288, 3.10407364516}},
    {"adagrad",
     0.01f,
     6,
     {0.900000000471, -1.89999999949, 0.400000002431, 0.0, 3.10000000098},
     {0.854690085319, -1.9957315187, 0.254329719928, -0.0562505117283, 3.10034232889}},
    {"adam",
     0.0f,
     12,
     {0.90000000051, -1.89999999951, 0.40000000251, 0.0, 3.10000000099},
     {0.753646639601, -1.93987937707, 0.206683235269, -0.0161412818027, 3.19032358447}},
    {"adam",
     0.01f,
     13,
     {0.900000000471, -1.89999999949, 0.400000002431, 0.0, 3.10000000098},
     {0.749643825944, -1.93347811686, 0.206026638433, -0.0160769936353, 3.18424594823}},
    {"adamw",
     0.0f,
     12,
     {0.90000000051, -1.89999999951, 0.40000000251, 0.0, 3.10000000099},
     {0.753646639601, -1.93987937707, 0.206683235269, -0.0161412818027, 3.19032358447}},
    {"adamw",
     0.01f,
     14,
     {0.899000000517, -1.89799999952, 0.399500002514, 0.0, 3.09700000101},
     {0.750071387659, -1.93217438902, 0.205196694944, -0.0160460899475, 3.17796804376}},
};

TEST(RuleTest, EveryRuleGivesTheNumbersOfItsPublishedFormula) {
  for (const HandCase& c : kHandCases) {
    const double tolerance = 4.0 * c.roundings * 0x1.0p-24 * 4.0;
    const std::unique_ptr<UpdateRule> rule = Rule(c.rule, WithDecay(c.decay));
    Trained trained(*rule, kStart);
    for (std::uint64_t step = 1; step <= kGradients.size(); ++step) {
      trained.Step(*rule, kGradients[step - 1], 0.1f, step);
      if (step != 1 && step != kGradients.size()) continue;
      for (std::size_t i = 0; i < kElements; ++i) {
        EXPECT_NEAR(static_cast<double>(trained.w[i]), step == 1 ? c.first[i] : c.last[i],
                    tolerance)
            << c.rule << " decay " << c.decay << " step " << step << " element " << i;
      }
    }
  }
}

// --- The exact formula: every fused step where kernels/math has one, none elsewhere ---

struct Element {
  float w;
  float a = 0;  // First slot of state.
  float b = 0;  // Second.
};

// A multiply-add whose fusion the test chooses.
float MulAdd(bool fused, float x, float y, float z) {
  return fused ? std::fma(x, y, z) : x * y + z;
}

// The constants as a rule holds them.
struct Constants {
  explicit Constants(const RuleOptions& o)
      : momentum(static_cast<float>(o.momentum)),
        beta1(static_cast<float>(o.beta1)),
        beta2(static_cast<float>(o.beta2)),
        epsilon(static_cast<float>(o.epsilon)),
        weight_decay(static_cast<float>(o.weight_decay)),
        spread(static_cast<float>(o.momentum_spread)),
        delay(o.momentum_delay) {}
  float momentum, beta1, beta2, epsilon, weight_decay, spread;
  std::uint32_t delay;
};

// One step with std::fma spelled out; `fused` false gives what a compiler without it would make,
// `contracted` what one would make that fuses 1 - lr wd by itself.
void Reference(std::string_view rule, const RuleOptions& options, float g, float lr, double t,
               bool fused, bool contracted, Element& e) {
  const Constants h(options);
  const bool decoupled = rule == "adamw";
  if (!decoupled) g = MulAdd(fused, h.weight_decay, e.w, g);
  if (rule == "sgd") {
    e.w = MulAdd(fused, -lr, g, e.w);
  } else if (rule == "momentum" || rule == "nesterov") {
    e.a = MulAdd(fused, h.momentum, e.a, g);
    const float direction = rule == "momentum" ? e.a : MulAdd(fused, h.momentum, e.a, g);
    e.w = MulAdd(fused, -lr, direction, e.w);
  } else if (rule == "delayed-nesterov") {
    const float one_over_n = 1.0f / static_cast<float>(h.delay);
    const bool kick = static_cast<std::uint64_t>(t) % h.delay == 0;
    const float share = kick ? 1.0f - h.spread * static_cast<float>(h.delay) + h.spread : h.spread;
    e.b += g;
    if (kick) {
      e.a = MulAdd(fused, h.momentum, e.a, e.b * one_over_n);
      e.b = 0.0f;
    }
    e.w = MulAdd(fused, -lr, MulAdd(fused, share * h.momentum, e.a, g * one_over_n), e.w);
  } else if (rule == "adagrad") {
    e.a = MulAdd(fused, g, g, e.a);
    const float root = std::sqrt(e.a) + h.epsilon;
    e.w = MulAdd(fused, -lr, g / root, e.w);
  } else {
    const double bias1 = 1.0 - std::pow(static_cast<double>(h.beta1), t);
    const double bias2 = 1.0 - std::pow(static_cast<double>(h.beta2), t);
    const float step_size = static_cast<float>(static_cast<double>(lr) / bias1);
    const float root_of_bias2 = static_cast<float>(std::sqrt(bias2));
    const float first = (1.0f - h.beta1) * g;
    const float second = (1.0f - h.beta2) * g * g;
    e.a = MulAdd(fused, h.beta1, e.a, first);
    e.b = MulAdd(fused, h.beta2, e.b, second);
    const float root = std::sqrt(e.b) / root_of_bias2 + h.epsilon;
    const float decay = lr * h.weight_decay;
    const float keep = contracted ? std::fma(-lr, h.weight_decay, 1.0f) : 1.0f - decay;
    const float kept = decoupled ? keep * e.w : e.w;
    e.w = MulAdd(fused, -step_size, e.a / root, kept);
  }
}

TEST(RuleTest, BitsAreThoseOfTheFusedFormulaAndOfNoOther) {
  constexpr std::size_t kCount = 1000;
  constexpr std::uint64_t kSteps = 5;
  // Large, so that 1 - lr wd loses bits where a compiler would not fuse it.
  RuleOptions h = WithDecay(0.9173f);
  h.momentum_delay = 2;
  h.momentum_spread = 0.25;
  for (const std::string_view name : RuleNames()) {
    const std::unique_ptr<UpdateRule> rule = Rule(name, h);
    Trained trained(*rule, Random(1, kCount, 2.0f));
    std::vector<Element> fused, unfused, contracted;
    for (std::size_t i = 0; i < kCount; ++i) fused.push_back({trained.w[i]});
    unfused = contracted = fused;
    std::size_t differ_unfused = 0, differ_contracted = 0;
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      const std::vector<float> g = Random(10 + step, kCount, 1.0f);
      const float lr = 0.1937f * static_cast<float>(step);
      const double t = static_cast<double>(step);
      trained.Step(*rule, g, lr, step);
      for (std::size_t i = 0; i < kCount; ++i) {
        Reference(name, h, g[i], lr, t, /*fused=*/true, /*contracted=*/false, fused[i]);
        Reference(name, h, g[i], lr, t, /*fused=*/false, /*contracted=*/false, unfused[i]);
        Reference(name, h, g[i], lr, t, /*fused=*/true, /*contracted=*/true, contracted[i]);
        ASSERT_EQ(trained.w[i], fused[i].w) << name << " step " << step << " element " << i;
        if (trained.state.size() > 0) {
          ASSERT_EQ(trained.state[0][i], fused[i].a) << name;
        }
        if (trained.state.size() > 1) {
          ASSERT_EQ(trained.state[1][i], fused[i].b) << name;
        }
        differ_unfused += fused[i].w != unfused[i].w ? 1 : 0;
        differ_contracted += fused[i].w != contracted[i].w ? 1 : 0;
      }
    }
    // Else these inputs could not tell the formulas apart.
    EXPECT_GT(differ_unfused, kCount / 10) << name;
    if (name == "adamw") {
      EXPECT_GT(differ_contracted, kCount / 10);
    }
  }
}

// --- Shapes ---

const std::size_t kSizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 10007};

TEST(RuleTest, EverySizeIsAppliedWholeAndNothingBesideIt) {
  for (const std::string_view name : RuleNames()) {
    const std::unique_ptr<UpdateRule> rule = Rule(name, WithDecay(0.01f));
    for (const std::size_t size : kSizes) {
      const std::vector<float> start = Random(2, size, 1.0f), g = Random(3, size, 1.0f);
      Trained whole(*rule, start), single(*rule, start);
      for (std::uint64_t step = 1; step <= 2; ++step) {
        whole.Step(*rule, g, 0.1f, step);
        // Element by element: no tail of the loop can hide.
        for (std::size_t i = 0; i < size; ++i) single.Step(*rule, g, 0.1f, step, i, i + 1);
      }
      EXPECT_TRUE(whole == single) << name << " size " << size;
      EXPECT_TRUE(whole.GuardsIntact()) << name << " size " << size;
      EXPECT_TRUE(size == 0 || Bits(whole.w) != Bits(Trained(*rule, start).w))
          << name << " " << size;
    }
  }
}

TEST(RuleTest, ACutAnywhereChangesNoBit) {
  constexpr std::size_t kCount = 257;
  const std::vector<float> start = Random(4, kCount, 1.0f), g = Random(5, kCount, 1.0f);
  for (const std::string_view name : RuleNames()) {
    const std::unique_ptr<UpdateRule> rule = Rule(name, WithDecay(0.01f));
    Trained whole(*rule, start);
    whole.Step(*rule, g, 0.1f, 1);
    for (std::size_t cut = 0; cut <= kCount; ++cut) {
      Trained parts(*rule, start);
      parts.Step(*rule, g, 0.1f, 1, 0, cut);
      parts.Step(*rule, g, 0.1f, 1, cut, kCount);
      ASSERT_TRUE(whole == parts) << name << " cut at " << cut;
    }
  }
}

TEST(RuleTest, BesideGivesTheBitsOfInPlaceAndLeavesTheSourceAlone) {
  for (const std::string_view name : RuleNames()) {
    const std::unique_ptr<UpdateRule> rule = Rule(name, WithDecay(0.01f));
    for (const std::size_t size : kSizes) {
      const std::vector<float> start = Random(6, size, 1.0f), g = Random(7, size, 1.0f);
      Trained in_place(*rule, start), beside(*rule, start);
      in_place.Step(*rule, g, 0.1f, 1);
      std::vector<float> after(size + kGuards, kGuard);
      std::vector<float*> slots;
      for (std::vector<float>& slot : beside.state) slots.push_back(slot.data());
      rule->Apply(beside.w.data(), after.data(), g.data(), slots.data(), size, 0.1f, 1);
      EXPECT_TRUE(Bits(beside.w) == Bits(Trained(*rule, start).w)) << name << " size " << size;
      beside.w = after;
      EXPECT_TRUE(in_place == beside) << name << " size " << size;
    }
  }
}

TEST(RuleTest, NotANumberAndInfinityPropagateAndTouchNoNeighbour) {
  constexpr std::size_t kCount = 33;
  const std::vector<float> start = Random(8, kCount, 1.0f), g = Random(9, kCount, 1.0f);
  for (const std::string_view name : RuleNames()) {
    const std::unique_ptr<UpdateRule> rule = Rule(name);
    Trained clean(*rule, start);
    clean.Step(*rule, g, 0.1f, 1);
    for (const float bad : {kNaN, kInfinity, -kInfinity}) {
      for (std::size_t at = 0; at < kCount; ++at) {
        std::vector<float> poisoned = g;
        poisoned[at] = bad;
        Trained trained(*rule, start);
        trained.Step(*rule, poisoned, 0.1f, 1);
        EXPECT_FALSE(std::isfinite(trained.w[at])) << name << " gradient " << bad << " at " << at;
        trained.w[at] = clean.w[at];
        EXPECT_EQ(Bits(trained.w), Bits(clean.w)) << name << " gradient " << bad << " at " << at;

        std::vector<float> broken = start;
        broken[at] = bad;
        Trained from_broken(*rule, broken);
        from_broken.Step(*rule, g, 0.1f, 1);
        EXPECT_FALSE(std::isfinite(from_broken.w[at])) << name << " parameter " << bad;
      }
    }
  }
}

// --- Delayed Nesterov: numbers worked out by hand ---

std::vector<float> OnesUnder(const UpdateRule& rule, float lr, std::uint64_t steps) {
  Trained trained(rule, {0.0f});
  std::vector<float> path;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    trained.Step(rule, {1.0f}, lr, step);
    path.push_back(trained.w[0]);
  }
  return path;
}

TEST(DelayedNesterovTest, EveryNthUpdateAddsTheMomentumOfAll) {
  const auto rule = Rule("delayed-nesterov", {.momentum = 0.5, .momentum_delay = 2});
  const std::vector<float> path = OnesUnder(*rule, 0.3f, 4);
  const double expected[] = {-0.15, -0.45, -0.60, -0.975};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(path[i], expected[i], 1e-6) << i;
}

TEST(DelayedNesterovTest, AsTheRegionsOfHalosUseIt) {
  const auto rule = Rule("delayed-nesterov", {.momentum = 0.9, .momentum_delay = 16});
  const std::vector<float> path = OnesUnder(*rule, 3.2f, 16);
  EXPECT_NEAR(path[14], -3.0, 1e-5);
  EXPECT_NEAR(path[15], -6.08, 1e-5);
}

TEST(DelayedNesterovTest, WithoutDelayItIsNesterov) {
  const auto delayed = Rule("delayed-nesterov", {.momentum = 0.9, .momentum_delay = 1});
  const auto plain = Rule("nesterov", {.momentum = 0.9});
  Trained a(*delayed, Random(4, 100, 1.0f)), b(*plain, Random(4, 100, 1.0f));
  for (std::uint64_t step = 1; step <= 20; ++step) {
    const std::vector<float> g = Random(100 + step, 100, 1.0f);
    a.Step(*delayed, g, 0.1f, step);
    b.Step(*plain, g, 0.1f, step);
    EXPECT_EQ(Bits(a.w), Bits(b.w));
  }
}

// However the momentum is spread over the updates, N of them take it once.
TEST(DelayedNesterovTest, SpreadMovesTheMomentumNotItsSum) {
  const auto late = Rule("delayed-nesterov", {.momentum = 0.5, .momentum_delay = 4});
  const auto spread =
      Rule("delayed-nesterov", {.momentum = 0.5, .momentum_delay = 4, .momentum_spread = 0.25});
  const std::vector<float> a = OnesUnder(*late, 1.0f, 8), b = OnesUnder(*spread, 1.0f, 8);
  // m is 1 after the first four and 1.5 after the second; between, spread gives 1/4 of 1/2 m.
  EXPECT_NEAR(a[3], -1.5, 1e-6);
  EXPECT_NEAR(b[3], -1.125, 1e-6);  // The first m was 0, so three quarters never came.
  EXPECT_NEAR(b[4] - b[3], -(0.25 + 0.125), 1e-6);
  EXPECT_NEAR(a[4] - a[3], -0.25, 1e-6);
}

// --- MakeRule ---

TEST(MakeRuleTest, EveryNameMakesTheRuleOfThatName) {
  const std::size_t slots[] = {0, 1, 1, 2, 1, 2, 2};
  ASSERT_THAT(RuleNames(), testing::ElementsAre("sgd", "momentum", "nesterov", "delayed-nesterov",
                                                "adagrad", "adam", "adamw"));
  for (std::size_t i = 0; i < RuleNames().size(); ++i) {
    const std::unique_ptr<UpdateRule> rule = Rule(RuleNames()[i]);
    EXPECT_EQ(rule->name(), RuleNames()[i]);
    EXPECT_EQ(rule->state_slots(), slots[i]) << RuleNames()[i];
  }
}

TEST(MakeRuleTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(MakeRule({.name = "lion"}),
              StatusIs(StatusCode::kInvalidArgument,
                       "no rule 'lion'; there are sgd, momentum, nesterov, delayed-nesterov, "
                       "adagrad, adam, adamw"));
}

TEST(MakeRuleTest, ValuesOutOfBoundsAreRefusedWithValueAndBounds) {
  struct Case {
    double RuleOptions::*field;
    float value;
    const char* message;
  };
  const Case cases[] = {
      {&RuleOptions::momentum, 1.0f, "momentum is 1; it must lie in [0, 1)"},
      {&RuleOptions::momentum, -0.5f, "momentum is -0.5; it must lie in [0, 1)"},
      {&RuleOptions::momentum, kNaN, "momentum is nan; it must lie in [0, 1)"},
      {&RuleOptions::beta1, 1.0f, "beta1 is 1; it must lie in [0, 1)"},
      {&RuleOptions::beta1, -1.0f, "beta1 is -1; it must lie in [0, 1)"},
      {&RuleOptions::beta2, 1.5f, "beta2 is 1.5; it must lie in [0, 1)"},
      {&RuleOptions::beta2, kNaN, "beta2 is nan; it must lie in [0, 1)"},
      {&RuleOptions::epsilon, -0.25f, "epsilon is -0.25; it must lie in [1.17549e-38, 1]"},
      {&RuleOptions::epsilon, kInfinity, "epsilon is inf; it must lie in [1.17549e-38, 1]"},
      // 0 / (0 + 0) would make the parameter of a zero gradient a NaN.
      {&RuleOptions::epsilon, 0.0f, "epsilon is 0; it must lie in [1.17549e-38, 1]"},
      {&RuleOptions::weight_decay, -0.125f, "weight decay is -0.125; it must lie in [0, 1]"},
      {&RuleOptions::weight_decay, 2.0f, "weight decay is 2; it must lie in [0, 1]"}};
  for (const Case& c : cases) {
    RuleOptions h;
    h.*c.field = c.value;
    EXPECT_THAT(MakeRule(h), StatusIs(StatusCode::kInvalidArgument, c.message));
  }
}

TEST(MakeRuleTest, TheBoundsThemselvesAreTakenWhereTheyAreIncluded) {
  const RuleOptions low{.momentum = 0,
                        .beta1 = 0,
                        .beta2 = 0,
                        .epsilon = std::numeric_limits<float>::min(),
                        .weight_decay = 0};
  const std::unique_ptr<UpdateRule> rule = Rule("adam", low);
  Trained trained(*rule, {1.0f});
  trained.Step(*rule, {0.0f}, 0.1f, 1);
  EXPECT_EQ(trained.w[0], 1.0f);
  EXPECT_THAT(MakeRule({.name = "adam", .epsilon = 1.0f, .weight_decay = 1.0f}), IsOk());
}

}  // namespace
}  // namespace slackline
