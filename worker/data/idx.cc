#include <vector>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "worker/data/readers.h"

namespace slackline {
namespace {

std::uint32_t BigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The sizes of an IDX file of bytes with `dimensions`, whose content is then exactly as long.
Result<std::vector<std::uint64_t>> ReadSizes(const std::string& name, std::string_view bytes,
                                             std::uint32_t dimensions) {
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(dimensions);
  if (bytes.size() < header) {
    return DataLoss(StrCat(name, " has ", bytes.size(), " bytes; an IDX file of ", dimensions,
                           " dimensions begins with ", header));
  }
  const std::uint32_t magic = BigEndian(bytes);
  const std::uint32_t expected = 0x0800u | dimensions;
  if (magic != expected) {
    return DataLoss(StrCat(name, " begins with the number ", magic, "; an IDX file of bytes with ",
                           dimensions, " dimensions begins with ", expected));
  }
  std::vector<std::uint64_t> sizes;
  std::uint64_t total = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    sizes.push_back(BigEndian(bytes.substr(4 + 4 * d)));
    // Each size is below 2^32 and the product is checked at every step, so it cannot wrap around.
    if (sizes.back() != 0 && total > (std::uint64_t{1} << 62) / sizes.back())
      total = std::uint64_t{1} << 62;
    else
      total *= sizes.back();
  }
  if (bytes.size() - header != total) {
    return DataLoss(StrCat(name, " announces ", StrJoin(sizes, " x "), " values and holds ",
                           bytes.size() - header));
  }
  return sizes;
}

}  // namespace

Result<Dataset> ParseIdx(const std::string& images_name, std::string_view images,
                         const std::string& labels_name, std::string_view labels,
                         std::uint32_t classes) {
  SLACKLINE_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> shape,
                             ReadSizes(images_name, images, 3));
  SLACKLINE_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> count,
                             ReadSizes(labels_name, labels, 1));
  if (shape[0] != count[0]) {
    return DataLoss(StrCat(images_name, " has ", shape[0], " images and ", labels_name, " ",
                           count[0], " labels"));
  }
  if (shape[0] == 0 || shape[1] * shape[2] == 0)
    return DataLoss(StrCat(images_name, " has no pixels"));
  Dataset data;
  data.examples = shape[0];
  data.width = shape[1] * shape[2];
  data.classes = classes;
  data.features.reserve(data.examples * data.width);
  for (const char pixel : images.substr(16)) {
    data.features.push_back(static_cast<float>(static_cast<unsigned char>(pixel)) / 255.0f);
  }
  for (std::uint64_t i = 0; i < data.examples; ++i) {
    const auto label = static_cast<unsigned char>(labels[8 + i]);
    if (label >= classes) {
      return DataLoss(StrCat(labels_name, ", label ", i, ": ", static_cast<int>(label),
                             "; there are ", classes, " classes, from 0"));
    }
    data.labels.push_back(label);
  }
  return data;
}

}  // namespace slackline
