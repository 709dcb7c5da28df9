#include "worker/data/tokens.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/base/check.h"
#include "core/base/strings.h"
#include "core/config/transformer_shape.h"
#include "worker/data/readers.h"

namespace slackline {
namespace {

using Tokens = std::vector<std::uint16_t>;

constexpr std::uint32_t kLlmcMagic = 20240520;
constexpr std::uint32_t kLlmcWideMagic = 20240801;  // Tokens of 32 bits, as Llama 3 has.
constexpr std::uint32_t kLlmcVersion = 1;
constexpr std::size_t kLlmcHeaderBytes = 256 * sizeof(std::uint32_t);
constexpr std::uint64_t kHeldOutMax = 64;  // Unless --held-out says more.

// The `index`-th little-endian 32-bit number. REQUIRES it to be there.
std::uint32_t Word(std::string_view bytes, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[4 * index + i]);
  return value;
}

bool IsNamedBin(std::string_view name) {
  return name.ends_with(".bin") || name.ends_with(".bin.gz");
}

// The body of an llm.c file, whose length its header must tell.
Result<std::string_view> LlmcBody(const std::string& name, std::string_view bytes) {
  if (bytes.size() < kLlmcHeaderBytes) {
    return DataLoss(StrCat(name, " begins as a file of llm.c and has ", bytes.size(),
                           " bytes; its header alone has ", kLlmcHeaderBytes));
  }
  if (Word(bytes, 1) != kLlmcVersion) {
    return DataLoss(StrCat(name, " is a file of llm.c of version ", Word(bytes, 1),
                           "; only version ", kLlmcVersion, " can be read"));
  }
  const std::uint64_t announced = Word(bytes, 2);
  bytes.remove_prefix(kLlmcHeaderBytes);
  if (bytes.size() == announced * sizeof(std::uint16_t)) return bytes;
  return DataLoss(StrCat(name, " announces ", announced, " tokens of 2 bytes and holds ",
                         bytes.size(), " bytes"));
}

Result<Tokens> ParseUint16(const std::string& name, std::string_view bytes) {
  if (bytes.size() % sizeof(std::uint16_t) != 0) {
    return DataLoss(StrCat(name, " has ", bytes.size(),
                           " bytes; a .bin file of tokens of 2 bytes has an even number"));
  }
  Tokens tokens(bytes.size() / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[2 * i]) |
                                           static_cast<unsigned char>(bytes[2 * i + 1]) << 8);
  }
  return tokens;
}

Result<Tokens> ParseAny(const std::string& name, std::string_view bytes) {
  const std::uint32_t magic = bytes.size() < 4 ? 0 : Word(bytes, 0);
  if (magic == kLlmcMagic) {
    SLACKLINE_ASSIGN_OR_RETURN(const std::string_view body, LlmcBody(name, bytes));
    return ParseUint16(name, body);
  }
  if (!IsNamedBin(name)) {
    Tokens tokens;
    tokens.reserve(bytes.size());
    for (const char byte : bytes) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  if (magic == kLlmcWideMagic) {
    return DataLoss(StrCat(name, " begins with ", magic,
                           ", llm.c's number for tokens of 4 bytes; they must have 2"));
  }
  return ParseUint16(name, bytes);
}

std::shared_ptr<const Dataset> Rows(const std::string& name, const Tokens& tokens,
                                    std::uint64_t context, std::uint64_t first,
                                    std::uint64_t rows) {
  auto data = std::make_shared<Dataset>();
  data->name = name;
  data->examples = rows;
  data->context = context;
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(first * context);
  data->tokens.assign(begin, begin + static_cast<std::ptrdiff_t>(rows * context + 1));
  return data;
}

std::uint64_t RowsOf(const Tokens& tokens, std::uint64_t context) {
  return tokens.empty() ? 0 : (tokens.size() - 1) / context;
}

Status TooShort(const std::string& name, const Tokens& tokens, std::uint64_t context,
                std::uint64_t rows) {
  return InvalidArgument(StrCat(name, " has ", tokens.size(), " tokens; ", rows,
                                " rows of --context ", context, " take at least ",
                                rows * context + 1, ". Give more text or a shorter --context"));
}

// The last rows are held out.
Result<Split> SplitRows(const std::string& name, const Tokens& tokens, std::uint64_t context,
                        std::uint64_t held_out) {
  const std::uint64_t rows = RowsOf(tokens, context);
  if (rows < 2) return TooShort(name, tokens, context, 2);
  if (held_out == 0) held_out = std::clamp<std::uint64_t>(rows / 10, 1, kHeldOutMax);
  if (held_out >= rows) {
    return InvalidArgument(StrCat("--held-out ", held_out, " leaves nothing to train on: ", name,
                                  " has ", rows, " rows of --context ", context));
  }
  return Split{Rows(name, tokens, context, 0, rows - held_out),
               Rows(name, tokens, context, rows - held_out, held_out)};
}

Result<Tokens> ReadTokens(const std::string& path, std::uint32_t vocabulary) {
  SLACKLINE_ASSIGN_OR_RETURN(const std::string bytes, ReadDataFile(path));
  return ParseTokens(path, bytes, vocabulary);
}

// The tokens of all .bin files in `folder` with `part` in their names.
Result<Tokens> ReadPart(const std::string& folder, std::string_view part,
                        std::uint32_t vocabulary) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string file = at->path().filename().string();
    if (IsNamedBin(file) && file.find(part) != file.npos) paths.push_back(at->path().string());
  }
  if (error) return NotFound(StrCat("cannot list ", folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  Tokens tokens;
  for (const std::string& path : paths) {
    SLACKLINE_ASSIGN_OR_RETURN(const Tokens more, ReadTokens(path, vocabulary));
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  return tokens;
}

Result<Split> LoadFolder(const std::string& folder, const TransformerShape& shape,
                         std::uint64_t held_out) {
  SLACKLINE_ASSIGN_OR_RETURN(const Tokens train, ReadPart(folder, "train", shape.vocabulary));
  SLACKLINE_ASSIGN_OR_RETURN(const Tokens val, ReadPart(folder, "val", shape.vocabulary));
  if (train.empty()) {
    return NotFound(StrCat("--data ", folder, ": no tokens in files there named ...train....bin"));
  }
  if (val.empty()) return SplitRows(folder, train, shape.context, held_out);
  const std::uint64_t rows = RowsOf(val, shape.context);
  const std::string train_name = StrCat(folder, " (train)"), val_name = StrCat(folder, " (val)");
  if (RowsOf(train, shape.context) == 0) return TooShort(train_name, train, shape.context, 1);
  if (rows == 0) return TooShort(val_name, val, shape.context, 1);
  if (held_out > rows) {
    return InvalidArgument(StrCat("--held-out ", held_out, ": ", val_name, " has ", rows,
                                  " rows of --context ", shape.context));
  }
  const std::uint64_t used = held_out > 0 ? held_out : std::min(rows, kHeldOutMax);
  return Split{Rows(train_name, train, shape.context, 0, RowsOf(train, shape.context)),
               Rows(val_name, val, shape.context, 0, used)};
}

}  // namespace

Result<std::vector<std::uint16_t>> ParseTokens(const std::string& name, std::string_view bytes,
                                               std::uint32_t vocabulary) {
  SLACKLINE_ASSIGN_OR_RETURN(Tokens tokens, ParseAny(name, bytes));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < vocabulary) continue;
    return DataLoss(StrCat(name, ", token ", i, ": ", tokens[i], " is beyond --vocabulary ",
                           vocabulary, "; GPT-2's tokens take 50257, Pythia's 50304"));
  }
  return tokens;
}

Result<Split> LoadTokens(const ModelOptions& options) {
  const TransformerShape shape = ShapeOf(options);
  if (options.data == "text" || options.data == ModelOptions{}.data) {
    SLACKLINE_ASSIGN_OR_RETURN(const Tokens tokens,
                               ParseTokens("text", EmbeddedText(), shape.vocabulary));
    return SplitRows("text", tokens, shape.context, options.held_out);
  }
  std::error_code error;
  if (std::filesystem::is_directory(options.data, error))
    return LoadFolder(options.data, shape, options.held_out);
  if (!std::filesystem::exists(options.data, error)) {
    return NotFound(StrCat("--data ", options.data, " is not there; --model ", options.model,
                           " reads text, a file of text, or .bin files of tokens"));
  }
  SLACKLINE_ASSIGN_OR_RETURN(const Tokens tokens, ReadTokens(options.data, shape.vocabulary));
  return SplitRows(options.data, tokens, shape.context, options.held_out);
}

}  // namespace slackline
