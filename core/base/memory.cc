#include "core/base/memory.h"

#include <malloc.h>

#include <climits>

namespace slackline {

void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // Blocks freed by ZeroMQ's thread serve the reactor's next allocation.
  mallopt(M_ARENA_MAX, 1);
}

}  // namespace slackline
