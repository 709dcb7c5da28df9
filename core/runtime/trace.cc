#include "core/runtime/trace.h"

namespace slackline {

const char* TraceName(TraceEvent::Kind kind) {
  using enum TraceEvent::Kind;
  switch (kind) {
    case kRoundStarted:
      return "round started";
    case kPushSent:
      return "push sent";
    case kPushDone:
      return "push done";
    case kSessionOpened:
      return "session opened";
    case kReadServed:
      return "read served";
    case kPushApplied:
      return "push applied";
    case kPushDuplicate:
      return "push duplicate";
    case kPushDiscarded:
      return "push discarded";
    case kPushRejected:
      return "push rejected";
    case kWorkerLeft:
      return "worker left";
    case kCutMade:
      return "cut made";
    case kExchangeBegun:
      return "exchange begun";
    case kMerged:
      return "merged";
  }
  return "unknown";
}

}  // namespace slackline
