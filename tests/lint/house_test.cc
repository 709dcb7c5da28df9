#include "tests/lint/house.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace slackline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Guarded(const std::string& guard, const std::string& body) {
  return "#ifndef " + guard + "\n#define " + guard + "\n" + body + "#endif\n";
}

TEST(House, BlanksWhatIsNotCode) {
  EXPECT_EQ(BlankCommentsAndLiterals("a // new\nb"), "a       \nb");
  EXPECT_EQ(BlankCommentsAndLiterals("a /* x\ny */ b"), "a     \n     b");
  EXPECT_EQ(BlankCommentsAndLiterals("f(\"new \\\" // x\") + y"), "f(\"           \") + y");
  EXPECT_EQ(BlankCommentsAndLiterals("c = 'n'; n = 1'000;"), "c = ' '; n = 1'000;");
  EXPECT_EQ(BlankCommentsAndLiterals("R\"(new\nnew)\" b"), "R\"(   \n   )\" b");
  EXPECT_EQ(BlankCommentsAndLiterals("R\"x(a)\")x\" b"), "R\"x(   )x\" b");
  EXPECT_EQ(BlankCommentsAndLiterals("\"open"), "\"    ");
}

TEST(House, NamesGuardsAfterPaths) {
  EXPECT_EQ(GuardOf("include/slackline/status.h"), "SLACKLINE_STATUS_H_");
  EXPECT_EQ(GuardOf("core/wire/codec.h"), "SLACKLINE_CORE_WIRE_CODEC_H_");
}

// A rule that finds nothing proves nothing: every kind of break is shown to it once.
TEST(House, NoticesEveryKindOfBreak) {
  const struct {
    const char* path;
    std::string text;
    Finding finding;
  } kCases[] = {
      {"server/a.cc",
       "#include \"worker/b.h\"\n",
       {"server/a.cc", 1, "server/ must not include worker/b.h"}},
      {"scheduler/a.cc",
       "\n#include \"kernels/b.h\"\n",
       {"scheduler/a.cc", 2, "scheduler/ must not include kernels/b.h"}},
      {"core/wire/a.cc",
       "#include \"core/runtime/node.h\"\n",
       {"core/wire/a.cc", 1, "core/wire/ must not include core/runtime/node.h"}},
      {"core/policy/a.cc",
       "#include \"server/b.h\"\n",
       {"core/policy/a.cc", 1, "core/ must not include server/b.h"}},
      {"kernels/a.cc",
       "#include \"core/wire/codec.h\"\n",
       {"kernels/a.cc", 1, "kernels/ must not include core/wire/codec.h"}},
      {"examples/a.cc",
       "#include \"core/base/buffer.h\"\n",
       {"examples/a.cc", 1, "examples/ must not include core/base/buffer.h"}},
      {"core/base/a.cc",
       "#include \"b.h\"\n",
       {"core/base/a.cc", 1, "core/base/ must not include b.h"}},
      {"core/session/a.cc",
       "#include <zmq.hpp>\n",
       {"core/session/a.cc", 1, "<zmq.hpp> is not for this folder; send through an Outbox"}},
      {"tools/a.cc",
       "#include <boost/any.hpp>\n",
       {"tools/a.cc", 1, "<boost/any.hpp> is not for this folder; take core/config's options"}},
      {"worker/a.cc",
       "#include <Eigen/Core>\n",
       {"worker/a.cc", 1, "<Eigen/Core> is not for this folder; call the ops of kernels/"}},
      {"tests/a.cc",
       "#include <random>\n",
       {"tests/a.cc", 1,
        "<random> is not for this folder; use slackline/random.h: std distributions differ between "
        "libraries"}},
      {"tools/a.cc",
       "x;\ny = std::getenv(\"HOME\");\n",
       {"tools/a.cc", 2, "getenv is not for this folder; make it an option"}},
      {"server/a.cc",
       "auto t = std::chrono::steady_clock::now();\n",
       {"server/a.cc", 1,
        "steady_clock is not for this folder; take the time as an argument, or core/base/clock.h"}},
      {"worker/a.cc",
       "std::thread t;\n",
       {"worker/a.cc", 1, "std::thread is not for this folder; make it a Job"}},
      {"tests/a.cc",
       "std::this_thread::sleep_for(1s);\n",
       {"tests/a.cc", 1, "sleep_for is not for this folder; set a timer"}},
      {"core/wire/a.cc",
       "auto* p = new int;\n",
       {"core/wire/a.cc", 1,
        "new is not for this folder; use std::make_unique, a value or a Buffer"}},
      {"core/wire/a.cc",
       "delete p;\n",
       {"core/wire/a.cc", 1,
        "delete is not for this folder; use std::unique_ptr, a value or a Buffer"}},
      {"core/wire/a.cc", "// TODO: later\n", {"core/wire/a.cc", 1, "TODO: do it, or leave it out"}},
      {"core/wire/a.h",
       "// About a.\n#pragma once\n",
       {"core/wire/a.h", 2, "header guard must be SLACKLINE_CORE_WIRE_A_H_"}},
      {"core/wire/a.h",
       Guarded("SLACKLINE_A_H_", ""),
       {"core/wire/a.h", 1, "header guard must be SLACKLINE_CORE_WIRE_A_H_"}},
      {"core/wire/a.h",
       "int x;\n",
       {"core/wire/a.h", 1, "header guard SLACKLINE_CORE_WIRE_A_H_ is missing"}},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(CheckSource(c.path, c.text), ElementsAre(c.finding));
  }
}

TEST(House, LeavesHonestCodeAlone) {
  const struct {
    const char* path;
    std::string text;
  } kCases[] = {
      {"server/a.cc", "#include <vector>\n#include \"core/wire/codec.h\"\n"},
      {"core/runtime/zmq_transport.cc", "#include <zmq.hpp>\n"},
      {"core/runtime/pool.cc", "std::jthread t;\n"},
      {"core/wire/a.cc", "// A new thing; delete it.\nf(\"getenv\");\nA(const A&) = delete;\n"},
      {"core/wire/a.cc", "return std::unique_ptr<A>(new A(b));\n"},
      {"core/wire/a.cc", "int renewal = newest + brand_new;\n"},
      {"core/wire/a.h", "// About a.\n" + Guarded("SLACKLINE_CORE_WIRE_A_H_", "int x;\n")},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(CheckSource(c.path, c.text), IsEmpty()) << c.path << ": " << c.text;
  }
}

TEST(House, TheTreeKeepsItsRules) {
  constexpr int kLinesMax = 500;
  const std::filesystem::path top = SLACKLINE_SOURCE_DIR;
  std::vector<Finding> findings;
  std::size_t files = 0;
  for (const char* folder : {"include", "core", "kernels", "scheduler", "server", "worker", "tools",
                             "examples", "tests"}) {
    if (!std::filesystem::exists(top / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".cu" && extension != ".cuh") {
        continue;
      }
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const std::string path = std::filesystem::relative(entry.path(), top).generic_string();
      for (Finding& finding : CheckSource(path, text)) findings.push_back(std::move(finding));
      const auto lines = std::count(text.begin(), text.end(), '\n');
      if (lines > kLinesMax) {
        std::printf("warning: %s has %td lines; is it one thing?\n", path.c_str(), lines);
      }
      ++files;
    }
  }
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_GT(files, 50u);
}

}  // namespace
}  // namespace slackline
