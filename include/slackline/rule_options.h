// RuleOptions: which update rule a tier of servers, or a worker's local steps, use, and its
// constants. docs/ALGORITHMS.md has each rule's equation.
#ifndef SLACKLINE_RULE_OPTIONS_H_
#define SLACKLINE_RULE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace slackline {

struct RuleOptions {
  std::string name = "sgd";  // One of RuleNames().
  double lr = 0.1;
  double momentum = 0.9;             // momentum, nesterov, delayed-nesterov
  double beta1 = 0.9;                // adam, adamw
  double beta2 = 0.999;              // adam, adamw
  double epsilon = 1e-8;             // adagrad, adam, adamw
  double weight_decay = 0.0;         // adamw: decoupled; else added to the gradient
  std::uint32_t momentum_delay = 1;  // delayed-nesterov: N, updates between two momentum steps
  double momentum_spread = 0.0;      // delayed-nesterov: c, momentum's share in the other updates
};

}  // namespace slackline

#endif  // SLACKLINE_RULE_OPTIONS_H_
