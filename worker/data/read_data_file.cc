#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/base/strings.h"
#include "worker/data/readers.h"

namespace slackline {

Result<std::string> ReadDataFile(const std::string& path) {
  // A pipe or a device may give bytes without end, or none for ever.
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    const bool there = std::filesystem::exists(status);
    return NotFound(
        StrCat("cannot read ", path, ": ", there ? "it is not a regular file" : error.message()));
  }
  errno = 0;
  // gzopen reads plain files as they are.
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (file == nullptr) {
    return NotFound(
        StrCat("cannot read ", path, ": ", errno != 0 ? std::strerror(errno) : "no memory"));
  }
  std::string bytes;
  constexpr unsigned kStep = 1u << 20;
  for (;;) {
    const std::size_t at = bytes.size();
    bytes.resize(at + kStep);
    const int got = gzread(file.get(), bytes.data() + at, kStep);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) {
      return DataLoss(StrCat(path, " is damaged or unfinished after ", at, " bytes: ", reason));
    }
    bytes.resize(at + static_cast<std::size_t>(got));
    if (got == 0) return bytes;
  }
}

}  // namespace slackline
