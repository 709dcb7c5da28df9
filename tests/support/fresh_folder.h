// FreshFolder: a folder of the running test's own, emptied.
#ifndef SLACKLINE_TESTS_SUPPORT_FRESH_FOLDER_H_
#define SLACKLINE_TESTS_SUPPORT_FRESH_FOLDER_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace slackline::testing {

inline std::string FreshFolder() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       (std::string(info->test_suite_name()) + "." + info->name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

}  // namespace slackline::testing

#endif  // SLACKLINE_TESTS_SUPPORT_FRESH_FOLDER_H_
