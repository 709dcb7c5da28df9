// The file formats that data comes in. Each reader takes a file whole, checks it whole, and names
// in every refusal the file, the place, what was found and what was expected. None of them
// allocates more than a constant factor of the file's size, whatever the file says of itself.
#ifndef SLACKLINE_WORKER_DATA_READERS_H_
#define SLACKLINE_WORKER_DATA_READERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "slackline/status.h"
#include "worker/data/dataset.h"

namespace slackline {

// A file's bytes; .gz files (by their first bytes, whatever their name) are decompressed.
// Errors: kNotFound with the system's reason; kDataLoss for a damaged or unfinished .gz.
Result<std::string> ReadDataFile(const std::string& path);

// IDX (the format of MNIST): big-endian magic 00 00 08 N, N sizes, then bytes. Images have N = 3
// and become features in [0, 1]; labels have N = 1 and must be below `classes`. Errors: kDataLoss.
Result<Dataset> ParseIdx(const std::string& images_name, std::string_view images,
                         const std::string& labels_name, std::string_view labels,
                         std::uint32_t classes);

// LIBSVM text: "label column:value ..." a line, columns increasing, '#' begins a comment. Labels
// are 0 and 1, or -1 and +1. A column without a value has the value 1; "qid:..." is passed over.
// Columns are those of the file. Errors: kDataLoss with file:line.
Result<Dataset> ParseLibsvm(const std::string& name, std::string_view text);

// Makes the columns of LIBSVM data count from 0: they count from 1 unless column 0 occurs in one of
// the parts, which belong together. `test` may be null. Both get the same number of columns.
void CountColumnsFromZero(Dataset& train, Dataset* test);

// Ratings: "user item rating" a line, with spaces, tabs, commas or '::' between; further fields are
// ignored, and so is a first line that begins with a letter.
// Errors: kDataLoss with file:line.
Result<Dataset> ParseRatings(const std::string& name, std::string_view text);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_READERS_H_
