#include <algorithm>
#include <array>
#include <limits>

#include "worker/data/readers.h"
#include "worker/data/text_lines.h"

namespace slackline {

Result<Dataset> ParseLibsvm(const std::string& name, std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  // So that the number of columns is a number too.
  constexpr std::uint64_t kColumnMax = std::numeric_limits<std::uint64_t>::max() - 1;
  Dataset data;
  data.name = name;
  data.row_begin.push_back(0);
  bool has_minus = false, has_zero_label = false;
  TextLines lines(name, text);
  for (std::string_view line; lines.Next(line);) {
    line = line.substr(0, line.find('#'));
    const std::string_view label_text = TakeField(line, kBlank);
    if (label_text.empty()) continue;
    double label = 0;
    if (!ParseNumber(label_text, label) || (label != 0 && label != 1 && label != -1)) {
      return lines.Refuse("label ", Quoted(label_text),
                          "; it must be 0 or 1, or -1 or +1. Is this a LIBSVM file?");
    }
    has_minus |= label < 0;
    has_zero_label |= label == 0;
    bool first = true;
    for (std::string_view field = TakeField(line, kBlank); !field.empty();
         field = TakeField(line, kBlank)) {
      if (field.starts_with("qid:")) continue;
      const std::size_t colon = field.find(':');
      std::uint64_t column = 0;
      float value = 1.0f;  // A bare column counts as present.
      const bool valued = colon != std::string_view::npos;
      if (!ParseNumber(field.substr(0, colon), column) || column > kColumnMax ||
          (valued && !ParseFloat(field.substr(colon + 1), value))) {
        return lines.Refuse(Quoted(field), " is not column:value with a whole column up to ",
                            kColumnMax, " and a finite value");
      }
      if (!first && column <= data.column.back()) {
        return lines.Refuse("column ", column, " follows column ", data.column.back(),
                            "; the columns of a LIBSVM line must increase");
      }
      first = false;
      data.columns = std::max(data.columns, column + 1);
      data.column.push_back(column);
      data.value.push_back(value);
    }
    data.row_begin.push_back(data.column.size());
    data.targets.push_back(label > 0 ? 1.0f : 0.0f);
  }
  data.examples = data.targets.size();
  if (data.examples == 0) return DataLoss(StrCat(name, ": no examples"));
  if (has_minus && has_zero_label)
    return DataLoss(StrCat(name, ": labels -1 and 0 in one file; use 0 and 1, or -1 and +1"));
  return data;
}

void CountColumnsFromZero(Dataset& train, Dataset* test) {
  const std::array<Dataset*, 2> parts = {&train, test};
  bool from_one = true;
  std::uint64_t columns = 0;
  for (const Dataset* part : parts) {
    if (part == nullptr) continue;
    from_one =
        from_one && std::find(part->column.begin(), part->column.end(), 0u) == part->column.end();
    columns = std::max(columns, part->columns);
  }
  if (from_one && columns > 0) --columns;
  for (Dataset* part : parts) {
    if (part == nullptr) continue;
    part->columns = columns;
    if (!from_one) continue;
    for (std::uint64_t& column : part->column) --column;
  }
}

}  // namespace slackline
