#include <gmock/gmock.h>

#include "belay/limits.h"

namespace belay {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(RunSettings, ThatAreUnsetHaveTheValuesOfTheDefaults) {
  RunSettings defaults;
  defaults.max_retries = 2;
  defaults.require_approval = false;
  defaults.budget.tokens = 100;
  RunSettings said;
  said.max_retries = 5;
  said.budget.money = 7;
  RunOptions options = said.over(defaults).options().value();
  EXPECT_EQ(options.max_retries, 5);
  EXPECT_FALSE(options.require_approval);
  EXPECT_EQ(options.budget, (Budget{100, 7}));
  EXPECT_EQ(options.timeout, RunOptions().timeout);
  EXPECT_EQ(RunSettings().options().value(), RunOptions());
}

TEST(RunSettings, MadeOfOptionsSayThemAll) {
  RunOptions options;
  options.timeout = milliseconds(5);
  options.require_approval = false;
  options.durability = Durability::exit;
  options.supersteps = 3;
  options.parallel = 4;
  options.max_retries = 5;
  options.approval_expires = milliseconds(6);
  options.budget = {7, 8};
  RunSettings defaults;
  defaults.timeout = milliseconds(9);
  defaults.require_approval = true;
  EXPECT_EQ(RunSettings(options).over(defaults).options().value(), options);
  EXPECT_EQ(RunSettings().over(options).options().value(), options);
}

TEST(RunSettings, BeyondABoundAreRefusedWithTheBound) {
  auto refusal = [](auto set) {
    RunSettings settings;
    set(settings);
    auto options = settings.options();
    EXPECT_FALSE(options.ok());
    if (options.ok()) return std::string();
    EXPECT_EQ(options.error().code, ErrorCode::invalid);
    return options.error().message;
  };
  EXPECT_EQ(refusal([](RunSettings& s) { s.max_retries = 0; }),
            "Invalid number of attempts 0: expected 1 to 20.");
  EXPECT_THAT(refusal([](RunSettings& s) { s.max_retries = 21; }), HasSubstr("attempts 21"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.timeout = milliseconds(0); }),
              HasSubstr("timeout of the run 0: expected 1 to 31536000000 milliseconds"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.timeout = hours(24 * 365) + milliseconds(1); }),
              HasSubstr("timeout of the run"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.approval_expires = milliseconds(-1); }),
              HasSubstr("expiry of approvals -1"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.approval_expires = hours(24 * 30 + 1); }),
              HasSubstr("expiry of approvals"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.supersteps = 0; }), HasSubstr("supersteps"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.parallel = 0; }), HasSubstr("parallel nodes"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.budget.tokens = -1; }), HasSubstr("tokens -1"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.budget.money = limits::budget_max + 1; }),
              HasSubstr("budget of money"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.configuration = "[1]"; }), HasSubstr("object"));
  EXPECT_THAT(refusal([](RunSettings& s) { s.configuration = "{"; }), HasSubstr("object"));
  EXPECT_THAT(refusal([](RunSettings& s) {
                s.configuration.assign(limits::configuration_bytes_max + 1, ' ');
              }),
              HasSubstr("65536"));
}

}  // namespace
}  // namespace belay
