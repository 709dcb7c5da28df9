#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/config/agreement.h"
#include "core/config/option_text.h"
#include "core/config/parse_options.h"
#include "core/config/validate.h"
#include "tests/support/status_matchers.h"

namespace slackline {
namespace {

using Arguments = std::vector<std::string>;

// A file of this test's own, removed at the end.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(::testing::TempDir() + "options_test_" + TestName() + ".ini") {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }
  std::string flag() const { return "--config=" + path_; }

 private:
  static std::string TestName() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::string path_;
};

// A good value that is not the default.
std::string OtherValue(const OptionRow& row) {
  // Where a value that fits the row alone would contradict other options' defaults.
  const std::map<std::string, std::string> chosen = {{"algorithm", "asp"},
                                                     {"join-timeout", "2m"},
                                                     {"lr-schedule", "cosine"},
                                                     {"segment-bytes", "4096"},
                                                     {"region", "0"},
                                                     {"regions", "2"},
                                                     {"global-region", "1"},
                                                     {"workers-per-region", "4"},
                                                     {"dynamic-local-steps", "ceil"},
                                                     {"collective", "ring"},
                                                     {"region-gate", "ssp"}};
  if (const auto found = chosen.find(row.name); found != chosen.end()) return found->second;
  for (const char* value :
       {"7", "0.75", "3s", "true", "false", "softmax", "global", "shard", "bsp", "all", "adam",
        "evaluate", "error", "regional", "local", "lossless", "ideal", "region"}) {
    Options options;
    if (row.value.set(options, value).ok() && value != DefaultOf(row)) return value;
  }
  ADD_FAILURE() << "no other value is known for --" << row.name;
  return DefaultOf(row);
}

// The arguments that give `row` another value, with what that value needs beside it.
Arguments OtherArguments(const OptionRow& row) {
  Arguments arguments{"--" + row.name + "=" + OtherValue(row)};
  const std::map<std::string, std::string> beside = {{"materialize", "--model=timing"},
                                                     {"global-region", "--regions=2"},
                                                     {"dynamic-local-steps", "--step=local"},
                                                     {"collective", "--region-gbps=1"},
                                                     {"tier", "--region=0"}};
  if (const auto found = beside.find(row.name); found != beside.end())
    arguments.push_back(found->second);
  return arguments;
}

TEST(ParseOptions, NothingGivenGivesTheDefaults) {
  const Result<Parsed> parsed = ParseOptions(Binary::kRun, Arguments{});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(CommandLine(parsed->options, Binary::kRun), Arguments{});
  EXPECT_EQ(parsed->source.at("slack"), "default");
  EXPECT_FALSE(parsed->Given("slack"));
}

TEST(ParseOptions, EveryKindOfValueIsRead) {
  const Result<Parsed> parsed = ParseOptions(
      Binary::kSim, Arguments{"--slack", "2", "--lr=0.25", "--hidden=256,128", "--patience=2500ms",
                              "--prefetch", "--evaluate=false", "--gate=ssp", "--speeds=1,0.5",
                              "--inject=slow:worker3:5x", "--loss", "0.1"});

  ASSERT_THAT(parsed, IsOk());
  const Options& options = parsed->options;
  EXPECT_EQ(options.recipe.slack, 2u);
  EXPECT_EQ(options.recipe.rule.lr, 0.25);
  EXPECT_EQ(options.model.hidden, (std::vector<std::uint32_t>{256, 128}));
  EXPECT_EQ(options.network.patience, 2500ms);
  EXPECT_TRUE(options.cluster.prefetch);
  EXPECT_FALSE(options.cluster.evaluate);
  EXPECT_EQ(options.time.speeds, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(options.time.inject, (std::vector<std::string>{"slow:worker3:5x"}));
  EXPECT_EQ(options.sim.loss, 0.1);
  EXPECT_EQ(parsed->source.at("slack"), "flag");
}

TEST(ParseOptions, ALaterFlagOverridesAnEarlierOne) {
  const Result<Parsed> parsed = ParseOptions(Binary::kRun, Arguments{"--slack=1", "--slack=7"});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->options.recipe.slack, 7u);
}

TEST(ParseOptions, SaysWhatIsWrongAndWhatWouldDo) {
  struct Case {
    Arguments arguments;
    const char* message;
  };
  const Case cases[] = {
      {{"--slak=3"}, "unknown option --slak; did you mean --slack?"},
      {{"--slak", "3"}, "unknown option --slak; did you mean --slack?"},
      {{"--no-evaluate"}, "unknown option --no-evaluate; write --evaluate=false"},
      {{"--zzzzzzzzzzzz=1"}, "unknown option --zzzzzzzzzzzz; slackline run --help lists them"},
      {{"--slac=3"}, "did you mean --slack?"},  // No guessing of shortened names.
      {{"--slack"}, "--slack needs a value: a whole number from 0"},
      {{"--batch=0"}, "--batch: '0' is not a whole number from 1 to 16777216"},
      {{"--batch=1e3"}, "--batch: '1e3' is not a whole number"},
      {{"--batch=-1"}, "--batch: '-1' is not"},
      {{"--batch=99999999999999999999"}, "--batch: '99999999999999999999' is not"},
      {{"--workers=0"}, "--workers: '0' is not a whole number from 1"},
      {{"--servers=0"}, "--servers: '0' is not a whole number from 1"},
      {{"--lr=nan"}, "--lr: 'nan' is not a number above 0"},
      {{"--lr=0"}, "--lr: '0' is not a number above 0"},
      {{"--momentum=1"}, "--momentum: '1' is not a number from 0 to below 1"},
      {{"--gate=foo"}, "--gate: 'foo' is not one of bsp, ssp, asp"},
      {{"--algorithm=foo"}, "--algorithm: 'foo' is not one of custom, bsp, ssp, asp"},
      {{"--patience=10"}, "--patience: '10' is not a duration: a number and its unit"},
      {{"--patience=10 s"}, "--patience: '10 s' is not a duration"},
      {{"--patience=1ms"}, "--patience: '1ms' is not a duration with its unit from 200ms to 24h"},
      {{"--evaluate=maybe"}, "--evaluate: 'maybe' is not true or false"},
      {{"--hidden=128,,64"}, "--hidden: '128,,64' is not a list"},
      {{"--hidden=128,x"}, "--hidden: '128,x' is not a list"},
      {{"--run-dir=a#b"}, "--run-dir: 'a#b' is not a text without '#'"},
      {{"--model=transformer", "--width=100"},
       "--width 100 with --heads 4: every head must have the same width, a multiple of 8"},
      {{"--model=pythia-70m", "--heads=3"}, "make --width a multiple of 24"},
      {{"stray"}, "unexpected argument 'stray'"},
      {{"--loss=0.5"}, "--loss is no option of slackline run; it belongs to slackline sim"},
      {{"--config=/nowhere/run.ini"}, "--config /nowhere/run.ini: the file cannot be opened"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const Result<Parsed> parsed = ParseOptions(Binary::kRun, c.arguments);
    const bool missing_file = c.arguments[0].starts_with("--config");
    EXPECT_THAT(
        parsed,
        StatusIs(missing_file ? StatusCode::kNotFound : StatusCode::kInvalidArgument, c.message));
  }
}

TEST(ParseOptions, RefusesOptionsThatContradictOneAnother) {
  struct Case {
    Arguments arguments;
    const char* message;
  };
  const Case cases[] = {
      {{"--gate=asp", "--collector=all"}, "--collector all with --gate asp"},
      {{"--gate=bsp", "--collector=each"}, "--gate bsp with --collector each"},
      {{"--decisions=shard", "--data-order=global"}, "--decisions shard"},
      {{"--prefetch", "--max-inflight-pushes=1"}, "--prefetch with --max-inflight-pushes 1"},
      {{"--lr-schedule=step"}, "--lr-step-samples"},
      {{"--segment-bytes=4095"}, "--segment-bytes 4095 is not a multiple of 4"},
      {{"--materialize=false"}, "--materialize=false with --model mlp"},
      {{"--model=logistic", "--data-order=global"}, "--data-order global with --model logistic"},
      {{"--model=factorization", "--data-order=global"},
       "a sparse model must know its rows before it asks; use --data-order shard"},
      {{"--speeds=1,1,1", "--workers=2"}, "--speeds has 3 values for --workers 2"},
      {{"--inject=slow:worker4:5x"}, "--inject slow:worker4:5x: there is no such worker"},
      {{"--patience=10m", "--join-timeout=300ms"}, "--join-timeout 300ms with --patience 10m"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ParseOptions(Binary::kSim, c.arguments),
                StatusIs(StatusCode::kInvalidArgument, c.message));
  }
}

TEST(ParseOptions, ModelsWithoutBytesAreForVirtualTimeAlone) {
  const ConfigFile file("model = timing\nmaterialize = false\n");

  EXPECT_THAT(ParseOptions(Binary::kSim, Arguments{file.flag()}), IsOk());
  EXPECT_THAT(ParseOptions(Binary::kWorker, Arguments{file.flag()}),
              StatusIs(StatusCode::kInvalidArgument, "for slackline sim alone"));
}

TEST(ParseOptions, FileIsReadAndTheCommandLineOverridesIt) {
  const ConfigFile file("# a comment\nslack = 5  # and another\n\nworkers = 8\nloss = 0.5\n");

  const Result<Parsed> parsed = ParseOptions(Binary::kRun, Arguments{"--workers=2", file.flag()});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->options.recipe.slack, 5u);
  EXPECT_EQ(parsed->source.at("slack"), file.path() + ":2");
  EXPECT_EQ(parsed->options.cluster.workers, 2u);
  EXPECT_EQ(parsed->source.at("workers"), "flag");
}

TEST(ParseOptions, ErrorsInAFileNameItsLine) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"workers = 2\nslak = 3\n", ":2: unknown option slak; did you mean slack?"},
      {"slack = many\n", ":1: slack: 'many' is not a whole number"},
      {"\nslack\n", ":2: 'slack' is not 'name = value' or a # comment"},
  };
  for (const Case& c : cases) {
    const ConfigFile file(c.text);
    EXPECT_THAT(ParseOptions(Binary::kRun, Arguments{file.flag()}),
                StatusIs(StatusCode::kInvalidArgument, file.path() + c.message));
  }
}

TEST(ParseOptions, AnAlgorithmFillsInWhatIsNotGiven) {
  const Result<Parsed> parsed = ParseOptions(Binary::kRun, Arguments{"--algorithm=bsp"});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->options.recipe.gate, "bsp");
  EXPECT_EQ(parsed->options.recipe.collector, "all");
  EXPECT_EQ(parsed->source.at("gate"), "algorithm bsp");
}

TEST(ParseOptions, WhatIsGivenOverridesTheAlgorithmWhereverItStands) {
  for (const Arguments& arguments :
       {Arguments{"--algorithm=bsp", "--gate=ssp"}, Arguments{"--gate=ssp", "--algorithm=bsp"}}) {
    const Result<Parsed> parsed = ParseOptions(Binary::kRun, arguments);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(parsed->options.recipe.gate, "ssp");
    EXPECT_EQ(parsed->options.recipe.collector, "all");
  }
}

TEST(ParseOptions, AnAlgorithmOnTheCommandLineOverridesAFile) {
  const ConfigFile file("gate = bsp\ncollector = all\n");

  const Result<Parsed> parsed =
      ParseOptions(Binary::kRun, Arguments{file.flag(), "--algorithm=asp"});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->options.recipe.gate, "asp");
  EXPECT_EQ(parsed->options.recipe.collector, "each");
}

TEST(ParseOptions, GateBspMeansItsCollectorToo) {
  const Result<Parsed> parsed = ParseOptions(Binary::kRun, Arguments{"--gate=bsp"});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->options.recipe.collector, "all");
  EXPECT_EQ(parsed->source.at("collector"), "gate bsp");
}

TEST(ParseOptions, HelpNeedsNothingElse) {
  const Result<Parsed> parsed = ParseOptions(Binary::kWorker, Arguments{"--help"});

  ASSERT_THAT(parsed, IsOk());
  EXPECT_TRUE(parsed->help);
}

TEST(ConfigIni, ReadsBackAsTheSameOptions) {
  const Result<Parsed> parsed =
      ParseOptions(Binary::kSim, Arguments{"--algorithm=ssp", "--slack=9", "--lr=0.1",
                                           "--epsilon=1e-7", "--hidden=3,4", "--speeds=1,0.3",
                                           "--partition=worker1:5:10", "--patience=1500ms"});
  ASSERT_THAT(parsed, IsOk());
  const std::string ini = ConfigIni(*parsed);
  const ConfigFile file(ini);

  const Result<Parsed> again = ReadConfigFile(file.path());

  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(CommandLine(again->options, Binary::kSim), CommandLine(parsed->options, Binary::kSim));
  EXPECT_THAT(ini, ::testing::HasSubstr("slack = 9  # flag\n"));
  EXPECT_THAT(ini, ::testing::HasSubstr("gate = ssp  # algorithm ssp\n"));
  EXPECT_THAT(ini, ::testing::HasSubstr("batch = 32  # default\n"));
}

TEST(CommandLine, GivesAnotherProcessTheSameAgreement) {
  for (const Arguments& arguments : {Arguments{}, Arguments{"--gate=bsp"},
                                     Arguments{"--algorithm=bsp", "--gate=ssp", "--slack=0"},
                                     Arguments{"--model=softmax", "--data=a,b=c d", "--rounds=7",
                                               "--evaluate=false", "--lr=0.07"}}) {
    const Result<Parsed> parsed = ParseOptions(Binary::kRun, arguments);
    ASSERT_THAT(parsed, IsOk());
    for (const Binary role : {Binary::kScheduler, Binary::kServer, Binary::kWorker}) {
      const Result<Parsed> child = ParseOptions(role, CommandLine(parsed->options, role));
      ASSERT_THAT(child, IsOk());
      EXPECT_EQ(Agreement(child->options), Agreement(parsed->options));
    }
  }
}

TEST(CommandLine, EveryOptionReachesEveryProgramThatTakesIt) {
  for (const OptionRow& row : OptionTable()) {
    for (const Binary binary : kBinaries) {
      if (!row.binaries.Has(binary)) continue;
      SCOPED_TRACE(row.name + " of " + BinaryName(binary));
      const Result<Parsed> parsed = ParseOptions(binary, OtherArguments(row));
      ASSERT_THAT(parsed, IsOk());
      ASSERT_NE(row.value.print(parsed->options), DefaultOf(row));

      const Result<Parsed> again = ParseOptions(binary, CommandLine(parsed->options, binary));

      ASSERT_THAT(again, IsOk());
      for (const OptionRow& other : OptionTable()) {
        EXPECT_EQ(other.value.print(again->options), other.value.print(parsed->options))
            << other.name;
      }
    }
  }
}

TEST(ConfigIni, EveryOptionReadsBack) {
  for (const OptionRow& row : OptionTable()) {
    SCOPED_TRACE(row.name);
    const Binary binary = row.binaries.Has(Binary::kSim) ? Binary::kSim : Binary::kServer;
    if (!row.binaries.Has(binary)) continue;
    const Result<Parsed> given = ParseOptions(binary, OtherArguments(row));
    ASSERT_THAT(given, IsOk());
    const Parsed& parsed = *given;
    const ConfigFile file(ConfigIni(parsed));

    const Result<Parsed> again = ReadConfigFile(file.path());

    ASSERT_THAT(again, IsOk());
    for (const OptionRow& other : OptionTable()) {
      EXPECT_EQ(other.value.print(again->options), other.value.print(parsed.options)) << other.name;
    }
  }
}

TEST(ParseOptions, BoundsHoldOnBothSides) {
  struct Case {
    const char* name;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  };
  const Case cases[] = {
      {"batch", {"1", "16777216"}, {"0", "16777217"}},
      {"workers", {"1", "1048576"}, {"0", "1048577"}},
      {"servers", {"1", "65536"}, {"0", "65537"}},
      {"slack", {"0", "1073741824"}, {"-1", "1073741825"}},
      {"layers", {"0", "1024"}, {"-1", "1025"}},
      {"width", {"0", "65536"}, {"-1", "65537"}},
      {"heads", {"0", "4096"}, {"-1", "4097"}},
      {"context", {"0", "65536"}, {"-1", "65537"}},
      {"vocabulary", {"0", "65536"}, {"-1", "65537"}},
      {"held-out", {"0", "1152921504606846976"}, {"-1", "1152921504606846977"}},
      {"max-snapshots", {"1", "4096"}, {"0", "4097"}},
      {"max-inflight-pushes", {"1", "1024"}, {"0", "1025"}},
      {"segment-bytes", {"4", "1073741824"}, {"0", "1073741825"}},
      {"rank", {"-1", "1048576"}, {"-2", "1048577"}},
      {"lr", {"1e-300", "1000000"}, {"0", "1000001", "inf", "nan"}},
      {"momentum", {"0", "0.999999"}, {"-0.1", "1"}},
      {"beta1", {"0", "0.999999"}, {"-0.1", "1"}},
      {"beta2", {"0", "0.999999"}, {"-0.1", "1"}},
      {"lr-final-factor", {"0", "1"}, {"-0.1", "1.1"}},
      {"loss", {"0", "1"}, {"-0.1", "1.1"}},
      {"duplicate", {"0", "1"}, {"-0.1", "1.1"}},
      {"reorder", {"0", "1"}, {"-0.1", "1.1"}},
      {"patience", {"200ms", "24h"}, {"0s", "199ms", "25h"}},
      {"join-timeout", {"100ms", "168h"}, {"0s", "99ms", "169h"}},
  };
  for (const Case& c : cases) {
    const OptionRow* row = FindOption(c.name);
    ASSERT_NE(row, nullptr) << c.name;
    Options options;
    for (const char* value : c.good) {
      EXPECT_THAT(row->value.set(options, value), IsOk()) << c.name << " " << value;
    }
    for (const char* value : c.bad) {
      const std::string quoted = std::string("'") + value + "' is not " + row->value.bounds;
      EXPECT_THAT(row->value.set(options, value), StatusIs(StatusCode::kInvalidArgument, quoted))
          << c.name;
    }
  }
}

TEST(Agreement, DiffersExactlyOnWhatModelRecipeAndRunSay) {
  const std::set<std::string> agreed_groups = {"Model and data", "Recipe", "Regions", "Run"};
  for (const OptionRow& row : OptionTable()) {
    SCOPED_TRACE(row.name);
    Options theirs;
    ASSERT_THAT(row.value.set(theirs, OtherValue(row)), IsOk());

    const std::string difference = FirstDifference(Agreement(Options{}), Agreement(theirs));

    // --algorithm is a label: what it fills in is compared, not its name.
    const bool agreed = row.name == "speeds" ||  // Local steps may depend on them.
                        (agreed_groups.contains(row.group) && row.name != "algorithm");
    EXPECT_EQ(difference, agreed ? "--" + row.name + " is " + DefaultOf(row) + " in this run and " +
                                       OtherValue(row) + " in the process that wants to join"
                                 : "");
  }
}

TEST(Agreement, NamesTheFirstDifferenceWithBothValues) {
  Options ours, theirs;
  theirs.recipe.rule.lr = 0.5;

  EXPECT_EQ(FirstDifference(Agreement(ours), Agreement(ours)), "");
  EXPECT_EQ(FirstDifference(Agreement(ours), Agreement(theirs)),
            "--lr is 0.1 in this run and 0.5 in the process that wants to join");
}

TEST(Agreement, DoesNotDependOnWhatConcernsOneProcess) {
  Options ours, theirs;
  theirs.network.rank = 3;
  theirs.output.run_dir = "elsewhere";
  theirs.time.inject = {"slow:worker1:2x"};

  EXPECT_EQ(Agreement(ours), Agreement(theirs));
}

TEST(Agreement, ForeignTextIsDescribedNotTrusted) {
  const std::string ours = Agreement(Options{});

  EXPECT_THAT(FirstDifference(ours, ""), ::testing::HasSubstr("'model' in this run"));
  EXPECT_THAT(FirstDifference(ours, ours + "later=1\n"), ::testing::HasSubstr("'later'"));
  EXPECT_LT(FirstDifference(ours, std::string(100000, 'x')).size(), 1000u);
}

}  // namespace
}  // namespace slackline
