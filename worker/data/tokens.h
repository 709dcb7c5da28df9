// Tokens to train language models on: from text by bytes, and from files as llm.c and nanoGPT write
// them.
//
// The rows of a data set lie one after another without overlap, but that a row's last prediction is
// the next one's first token: row i covers tokens [i context, (i + 1) context].
#ifndef SLACKLINE_WORKER_DATA_TOKENS_H_
#define SLACKLINE_WORKER_DATA_TOKENS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/status.h"
#include "worker/data/dataset.h"

namespace slackline {

// English prose (persuasion.LICENSE.md), embedded in the binary: text that is always there.
std::string_view EmbeddedText();

// A file's tokens. What it is, its beginning tells, and then its name:
//   llm.c:   256 little-endian int32 (20240520, version 1, number of tokens, ...), then the tokens
//            as uint16.
//   nanoGPT: uint16 from the first byte on; the file is named .bin. (No such file of GPT-2's or
//            Pythia's tokens begins with llm.c's number: as a token, its lower half is 55,448.)
//   text:    anything else; every byte is a token.
// Errors: kDataLoss with the file, the place, what was found and what was expected; a token must be
// below `vocabulary`.
Result<std::vector<std::uint16_t>> ParseTokens(const std::string& name, std::string_view bytes,
                                               std::uint32_t vocabulary);

// What the options name: "text" (or nothing: "digits", the option's default), a file, or a folder
// of .bin files, of which those with "train" in their names are trained on, one after another in
// the order of their names, and those with "val" evaluated. Otherwise the last rows are held out.
// Errors: those of ParseTokens; kNotFound; kInvalidArgument where there are too few rows.
Result<Split> LoadTokens(const ModelOptions& options);

}  // namespace slackline

#endif  // SLACKLINE_WORKER_DATA_TOKENS_H_
