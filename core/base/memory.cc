#include "core/base/memory.h"

#include <malloc.h>

#include <climits>

namespace slackline {

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);  // Large blocks come from the heap, whose pages stay, ...
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_ARENA_MAX, 1);  // ... and what ZeroMQ's thread frees serves the reactor's next one.
}

}  // namespace slackline
