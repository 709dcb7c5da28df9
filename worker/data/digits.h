// The 8 x 8 UCI handwritten digits (digits.LICENSE.md), embedded in the binary: data that is always
// there.
#ifndef SLACKLINE_WORKER_DATA_DIGITS_H_
#define SLACKLINE_WORKER_DATA_DIGITS_H_

#include <cstdint>
#include <string_view>

#include "slackline/status.h"
#include "worker/data/dataset.h"

namespace slackline {

// A line an image: 64 values from 0 to 16, then the class.
std::string_view DigitsCsv();

// All of them, features in [0, 1]. Errors: kDataLoss if `csv` is not what DigitsCsv() describes.
Result<Dataset> ParseDigits(std::string_view csv);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_DIGITS_H_
