#include "core/wire/types.h"

namespace slackline {

const char* RoleName(Role role) {
  switch (role) {
    case Role::kScheduler:
      return "scheduler";
    case Role::kServer:
      return "server";
    case Role::kWorker:
      return "worker";
    case Role::kEvaluator:
      return "evaluator";
    case Role::kObserver:
      return "observer";
  }
  return "unknown";
}

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kForming:
      return "forming";
    case Phase::kRunning:
      return "running";
    case Phase::kFinishing:
      return "finishing";
    case Phase::kStopping:
      return "stopping";
  }
  return "unknown";
}

const char* PushOutcomeName(PushOutcome outcome) {
  switch (outcome) {
    case PushOutcome::kApplied:
      return "applied";
    case PushOutcome::kDiscarded:
      return "discarded";
    case PushOutcome::kRejected:
      return "rejected";
  }
  return "unknown";
}

}  // namespace slackline
