#include "tests/lint/house.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "core/base/strings.h"

namespace slackline {
namespace {

bool StartsWithAny(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// Files below `folder` may include headers of ours below `may_include` only. First match counts.
struct Door {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};
const std::vector<Door>& Doors() {
  static const std::vector<Door> doors = {
      {"include/", {"slackline/"}},
      {"examples/", {"slackline/", "examples/"}},
      {"core/base/", {"slackline/", "core/base/"}},
      {"core/wire/", {"slackline/", "core/base/", "core/wire/"}},
      {"core/", {"slackline/", "core/"}},
      {"kernels/", {"slackline/", "core/base/", "kernels/"}},
      {"scheduler/", {"slackline/", "core/", "scheduler/"}},
      {"server/", {"slackline/", "core/", "kernels/", "server/"}},
      {"worker/", {"slackline/", "core/", "kernels/", "worker/"}},
      {"tools/", {"slackline/", "core/", "kernels/", "scheduler/", "server/", "worker/", "tools/"}},
      {"tests/", {""}},
  };
  return doors;
}

// A word of the code, or a header of a third party, that only certain folders may use.
struct Reserved {
  std::string_view word;
  std::vector<std::string_view> folders;
  std::string_view instead;
};
const std::vector<Reserved>& ReservedHeaders() {
  static const std::vector<Reserved> headers = {
      {"zmq", {"core/runtime/zmq_", "tools/bench", "tests/"}, "send through an Outbox"},
      {"boost/", {"core/config/"}, "take core/config's options"},
      {"Eigen/", {"kernels/cpu/", "tests/"}, "call the ops of kernels/"},
      {"cuda", {"kernels/cuda/"}, "call the ops of kernels/"},
      {"gtest/", {"tests/"}, "test it from tests/"},
      {"gmock/", {"tests/"}, "test it from tests/"},
      {"random", {}, "use slackline/random.h: std distributions differ between libraries"},
  };
  return headers;
}
const std::vector<Reserved>& ReservedWords() {
  static const std::string_view kClock = "take the time as an argument, or core/base/clock.h";
  static const std::string_view kThread = "make it a Job";
  static const std::string_view kRandom = "use slackline/random.h";
  static const std::vector<Reserved> words = {
      {"getenv", {}, "make it an option"},
      {"setenv", {}, "make it an option"},
      {"steady_clock", {"core/base/"}, kClock},
      {"system_clock", {"core/base/"}, kClock},
      {"high_resolution_clock", {"core/base/"}, kClock},
      {"clock_gettime", {"core/base/"}, kClock},
      {"gettimeofday", {}, kClock},
      {"std::thread", {"core/base/", "core/runtime/", "tests/", "tools/bench"}, kThread},
      {"std::jthread", {"core/base/", "core/runtime/", "tests/", "tools/bench"}, kThread},
      {"std::async", {}, kThread},
      {"sleep_for", {"tools/"}, "set a timer"},
      {"sleep_until", {"tools/"}, "set a timer"},
      {"usleep", {"tools/"}, "set a timer"},
      {"random_device", {"core/base/"}, kRandom},
      {"rand", {}, kRandom},
      {"srand", {}, kRandom},
      {"volatile", {}, "use std::atomic, or hand it over by a queue"},
      {"new", {"core/base/buffer.cc"}, "use std::make_unique, a value or a Buffer"},
      {"delete", {"core/base/buffer.cc"}, "use std::unique_ptr, a value or a Buffer"},
  };
  return words;
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether `word` stands in `line` as a whole word. "= delete" is no delete, and a new that a
// unique_ptr takes at once (where a constructor is private) is not naked.
bool HasWord(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordChar(line[at - 1]);
    const std::size_t end = at + word.size();
    const bool ends = end == line.size() || !IsWordChar(line[end]);
    const std::string_view before = line.substr(0, at);
    const bool harmless = (word == "delete" && before.ends_with("= ")) ||
                          (word == "new" && before.find("unique_ptr<") != before.npos);
    if (begins && ends && !harmless) return true;
  }
  return false;
}

// The header named by an #include line; empty if it is none.
std::string_view IncludedBy(std::string_view line) {
  constexpr std::string_view kInclude = "#include ";
  if (!line.starts_with(kInclude)) return {};
  line.remove_prefix(kInclude.size());
  const std::size_t end = line.find_first_of("\">", 1);
  return line.empty() || end == line.npos ? std::string_view() : line.substr(1, end - 1);
}

std::string CheckInclude(std::string_view path, std::string_view line) {
  const std::string_view header = IncludedBy(line);
  if (header.empty()) return {};
  if (line.find('"') != line.npos) {
    for (const Door& door : Doors()) {
      if (!path.starts_with(door.folder)) continue;
      if (StartsWithAny(header, door.may_include)) return {};
      return StrCat(door.folder, " must not include ", header);
    }
    return {};
  }
  for (const Reserved& reserved : ReservedHeaders()) {
    if (header.starts_with(reserved.word) && !StartsWithAny(path, reserved.folders)) {
      return StrCat("<", header, "> is not for this folder; ", reserved.instead);
    }
  }
  return {};
}

void CheckGuard(std::string_view path, const std::vector<std::string>& lines,
                std::vector<Finding>& findings) {
  const std::string guard = GuardOf(path);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with('#')) continue;
    const bool opens = lines[i] == StrCat("#ifndef ", guard) && i + 1 < lines.size() &&
                       lines[i + 1] == StrCat("#define ", guard);
    if (opens) return;
    findings.push_back(
        {std::string(path), static_cast<int>(i) + 1, StrCat("header guard must be ", guard)});
    return;
  }
  findings.push_back({std::string(path), 1, StrCat("header guard ", guard, " is missing")});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Finding& finding) {
  return out << finding.path << ":" << finding.line << ": " << finding.what;
}

std::string BlankCommentsAndLiterals(std::string_view text) {
  std::string out(text);
  // Blanks [begin, end) but keeps the lines' ends.
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  const auto find = [&](std::string_view what, std::size_t from) {
    return std::min(text.find(what, from), text.size());
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    std::size_t end = at + 1;
    if (rest.starts_with("//")) {
      end = find("\n", at);
      blank(at, end);
    } else if (rest.starts_with("/*")) {
      end = find("*/", at + 2) + 2;
      blank(at, end);
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = find("(", at);
      const std::string close = StrCat(")", text.substr(at + 2, open - at - 2), "\"");
      end = find(close, open) + close.size();
      blank(open + 1, end - close.size());
    } else if (rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !IsWordChar(text[at - 1])))) {
      while (end < text.size() && text[end] != rest[0] && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      blank(at + 1, end);
      ++end;
    }
    at = end;
  }
  return out;
}

std::string GuardOf(std::string_view path) {
  constexpr std::string_view kPublic = "include/slackline/";
  if (path.starts_with(kPublic)) path.remove_prefix(kPublic.size());
  std::string guard = "SLACKLINE_";
  for (const char c : path) {
    guard += IsWordChar(c) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  }
  return guard + "_";
}

std::vector<Finding> CheckSource(std::string_view path, std::string_view text) {
  std::vector<Finding> findings;
  const std::vector<std::string> lines = StrSplit(text, '\n');
  const std::vector<std::string> code = StrSplit(BlankCommentsAndLiterals(text), '\n');
  if (path.ends_with(".h") || path.ends_with(".cuh")) CheckGuard(path, code, findings);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = [&](std::string what) {
      findings.push_back({std::string(path), static_cast<int>(i) + 1, std::move(what)});
    };
    if (code[i].starts_with("#include ")) {
      if (std::string what = CheckInclude(path, lines[i]); !what.empty()) found(std::move(what));
      continue;
    }
    for (const Reserved& reserved : ReservedWords()) {
      if (HasWord(code[i], reserved.word) && !StartsWithAny(path, reserved.folders)) {
        found(StrCat(reserved.word, " is not for this folder; ", reserved.instead));
      }
    }
    for (const std::string_view mark : {"TODO", "FIXME", "XXX"}) {
      if (HasWord(lines[i], mark) && !path.starts_with("tests/lint/")) {
        found(StrCat(mark, ": do it, or leave it out"));
      }
    }
  }
  return findings;
}

}  // namespace slackline
