// How the process's heap treats large blocks.
#ifndef SLACKLINE_CORE_BASE_MEMORY_H_
#define SLACKLINE_CORE_BASE_MEMORY_H_

namespace slackline {

// Keeps freed memory for the next allocation instead of returning it to the system. Messages of a
// mebibyte come and go thousands of times a second; without this each of them is mapped, faulted in
// page by page and unmapped. For mains; affects the whole process.
void KeepFreedMemory();

}  // namespace slackline

#endif  // SLACKLINE_CORE_BASE_MEMORY_H_
