#include "slackline/parameters.h"

#include <cmath>

#include "core/base/check.h"
#include "core/base/strings.h"

namespace slackline {
namespace {

Status CheckName(const char* what, const std::string& name) {
  if (name.size() <= kNameBytesMax) return Status::Ok();
  return InvalidArgument(StrCat("a ", what, "'s name has ", name.size(), " bytes; at most ",
                                kNameBytesMax, " are possible"));
}

Status CheckInitializer(const char* what, const std::string& name, const Initializer& init) {
  if (!std::isfinite(init.uniform_bound) || init.uniform_bound < 0) {
    return InvalidArgument(StrCat(what, " ", name, " begins uniform within ", init.uniform_bound,
                                  "; the bound must be finite and not negative"));
  }
  if (std::isfinite(init.center)) return Status::Ok();
  return InvalidArgument(
      StrCat(what, " ", name, " begins around ", init.center, "; the center must be finite"));
}

// The product of the extents, or an error that names them.
Result<std::uint64_t> CheckedElements(const TensorSpec& tensor) {
  if (tensor.shape.size() > kExtentsMax) {
    return InvalidArgument(StrCat("tensor ", tensor.name, " has ", tensor.shape.size(),
                                  " extents; at most ", kExtentsMax, " are possible"));
  }
  std::uint64_t count = 1;
  bool too_many = false;
  for (const std::uint64_t extent : tensor.shape) {
    if (extent == 0) return std::uint64_t{0};
    too_many = too_many || extent > kElementsMax / count;
    if (!too_many) count *= extent;
  }
  if (!too_many) return count;
  return InvalidArgument(StrCat("tensor ", tensor.name, " of shape ", StrJoin(tensor.shape, "x"),
                                " has more than ", kElementsMax, " elements"));
}

}  // namespace

Status CheckParameterSpec(const ParameterSpec& spec) {
  if (spec.tensors.size() > kTensorsMax || spec.tables.size() > kTablesMax) {
    return InvalidArgument(StrCat("a model of ", spec.tensors.size(), " tensors and ",
                                  spec.tables.size(), " tables; at most ", kTensorsMax, " and ",
                                  kTablesMax, " are possible"));
  }
  std::uint64_t total = 0;
  for (const TensorSpec& tensor : spec.tensors) {
    SLACKLINE_RETURN_IF_ERROR(CheckName("tensor", tensor.name));
    SLACKLINE_RETURN_IF_ERROR(CheckInitializer("tensor", tensor.name, tensor.init));
    SLACKLINE_ASSIGN_OR_RETURN(const std::uint64_t elements, CheckedElements(tensor));
    if (elements > kElementsMax - total) {
      return InvalidArgument(StrCat("with tensor ", tensor.name, " the model has more than ",
                                    kElementsMax, " elements"));
    }
    total += elements;
  }
  for (const TableSpec& table : spec.tables) {
    SLACKLINE_RETURN_IF_ERROR(CheckName("table", table.name));
    SLACKLINE_RETURN_IF_ERROR(CheckInitializer("table", table.name, table.init));
    if (table.width == 0 || table.width > kTableWidthMax) {
      return InvalidArgument(StrCat("table ", table.name, " has rows of ", table.width,
                                    " values; 1 to ", kTableWidthMax, " are possible"));
    }
  }
  return Status::Ok();
}

}  // namespace slackline
