#include "core/runtime/node.h"

namespace slackline {

void Outbox::Clear() {
  connects.clear();
  located.clear();
  located_at.reset();
  sends.clear();
  timers.clear();
  jobs.clear();
  traces.clear();
  reports.clear();
  notes.clear();
  exit = false;
  exit_status = Status::Ok();
}

}  // namespace slackline
