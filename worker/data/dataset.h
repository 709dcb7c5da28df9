// Dataset: examples in memory, dense, sparse, ratings or tokens, and where they come from.
//
// Files are read whole and checked whole before any of it is used; every refusal names the file,
// the place in it, what was found and what was expected.
#ifndef SLACKLINE_WORKER_DATA_DATASET_H_
#define SLACKLINE_WORKER_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "slackline/status.h"

namespace slackline {

struct Dataset {
  std::string name;
  std::uint64_t examples = 0;

  // Dense: examples x width features, and a class for each. Empty otherwise.
  std::uint64_t width = 0;
  std::uint32_t classes = 0;
  std::vector<float> features;
  std::vector<std::uint32_t> labels;

  // Sparse (LIBSVM): example i has the entries [row_begin[i], row_begin[i + 1]); targets 0 or 1.
  std::uint64_t columns = 0;
  std::vector<std::uint64_t> row_begin;
  std::vector<std::uint64_t> column;
  std::vector<float> value;
  std::vector<float> targets;  // Sparse: 0 or 1. Ratings: the rating.

  // Ratings: (user, item) of each example; targets hold the ratings.
  std::vector<std::uint64_t> user;
  std::vector<std::uint64_t> item;

  // Language: examples * context + 1 tokens. Example i predicts each of the `context` tokens after
  // place i * context from those before it, back to that place.
  std::uint64_t context = 0;
  std::vector<std::uint16_t> tokens;
};

struct Split {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

// What ModelOptions::data names: "digits" (embedded), "teacher" (synthetic), "fashion-mnist" (Debian's package), a folder
// of IDX files, a LIBSVM file, a file of "user item rating" lines, text or tokens (tokens.h). Which
// reader reads a file is decided by the model and the file's own beginning, never guessed from its
// name alone. Errors: kNotFound, kDataLoss (with file, place, values), kInvalidArgument.
Result<Split> LoadData(const ModelOptions& options, std::uint64_t seed);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_DATASET_H_
