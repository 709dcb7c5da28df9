#include "core/base/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "core/base/strings.h"

namespace slackline {

Result<std::uint64_t> RandomBits() {
  std::uint64_t bits = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&bits, sizeof bits, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof bits)) {
    return Internal(StrCat("the operating system gives no random bits: ", std::strerror(errno)));
  }
  return bits;
}

}  // namespace slackline
