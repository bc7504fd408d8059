// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace dft::base {
namespace {

std::string logged(const std::function<void()>& act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, OneLineWithThePrefixAndErrnoKept) {
  errno = 77;
  EXPECT_EQ(logged([] {
              LogLine() << "cannot write "
                        << "a\nb"
                        << ": " << -5 << " " << std::uint64_t{18446744073709551615u};
            }),
            "dftracer: cannot write a b: -5 18446744073709551615\n");
  EXPECT_EQ(errno, 77);
}

TEST(Log, LongTextIsCutVisibly) {
  const std::string line = logged([] { LogLine() << std::string(5000, 'x'); });
  EXPECT_LE(line.size(), 2048u);
  EXPECT_EQ(line.substr(line.size() - 4), "...\n");
}

TEST(Log, LevelsAboveTheLimitAreSilent) {
  set_log_level(LogLevel::kWarn);
  EXPECT_EQ(logged([] { LogLine(LogLevel::kDebug) << "no"; }), "");
  EXPECT_EQ(logged([] { LogLine(LogLevel::kWarn) << "yes"; }), "dftracer: yes\n");
  set_log_level(LogLevel::kError);
}

}  // namespace
}  // namespace dft::base
