#include "cron/zone_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/conformance/temporary_folder.h"
#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

namespace fs = std::filesystem;
using conformance::TemporaryFolder;
using std::chrono::seconds;
using testing::HasSubstr;

Error error_of(const ZoneDatabase& zones, std::string_view name) {
  auto found = zones.find(name);
  return found.ok() ? Error{ErrorCode::conflict, "found"} : found.error();
}

TEST(ZoneDatabases, SuggestSimilarNames) {
  ZoneDatabase zones;
  struct Case {
    const char* name;
    const char* suggestion;
  };
  for (const auto& [name, suggestion] : std::vector<Case>{
           {"Europe/Madird", "Did you mean \"Europe/Madrid\"?"},
           {"europe/madrid", "Did you mean \"Europe/Madrid\"?"},
           {"Madrid", "Did you mean \"Europe/Madrid\"?"},
           {"New York", "Did you mean \"America/New_York\"?"},
           {"Asia/Tokio", "Did you mean \"Asia/Tokyo\"?"},
           {"America/Buenos_Aries", "\"America/Buenos_Aires\""},
           {"Middle Earth", "Use a name of the IANA database such as Europe/Madrid, or UTC."},
           {"", "Use a name of the IANA database"},
           {"GMT+2", "Use a name of the IANA database"},
           {"+02:00", "Use a name of the IANA database"},
           {"../../etc/passwd", "Use a name of the IANA database"},
       }) {
    Error error = error_of(zones, name);
    EXPECT_EQ(error.code, ErrorCode::invalid) << name;
    EXPECT_THAT(error.message, HasSubstr(suggestion)) << name;
    EXPECT_TRUE(error.message.starts_with("Unknown time zone \"")) << name;
  }
}

TEST(ZoneDatabases, HaveNoOtherFiles) {
  ZoneDatabase zones;
  for (std::string name :
       {"posix/Europe/Madrid", "right/Europe/Madrid", "posixrules", "localtime", "tzdata.zi",
        "zone.tab", "leapseconds", "Europe", "Europe/", "/Europe/Madrid", "Europe//Madrid",
        "Europe/../Europe/Madrid", "./UTC", "Europe/Madrid\n", "\xFF"}) {
    EXPECT_EQ(error_of(zones, name).code, ErrorCode::invalid) << name;
  }
  EXPECT_EQ(error_of(zones, std::string("UTC\0", 4)).code, ErrorCode::invalid);
  EXPECT_LT(error_of(zones, std::string(100'000, 'A')).message.size(), 300u);
}

TEST(ZoneDatabases, ThatAreMissingAreReportedWithTheRemedy) {
  TemporaryFolder folder;
  for (const std::string& missing : {folder.file("none"), folder.path()}) {
    ZoneDatabase zones(missing);
    Error error = error_of(zones, "Europe/Madrid");
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_EQ(error.message, "Time zone database \"" + missing +
                                 "\" not found. Install the package tzdata, or use UTC.");
    EXPECT_EQ(zones.find("UTC")->name(), "UTC");
    EXPECT_EQ(zones.find("Etc/UTC")->name(), "UTC");
    EXPECT_EQ(zones.find("UTC")->period_at(sys_seconds(seconds(0))).offset, seconds(0));
  }
}

TEST(ZoneDatabases, ReportADamagedFile) {
  TemporaryFolder folder;
  auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder.file(name), std::ios::binary) << bytes;
  };
  write("Damaged", "TZif");
  write("Empty", "");
  write("Large", std::string(300'000, 'T'));
  ZoneDatabase zones(folder.path());
  EXPECT_EQ(error_of(zones, "Damaged").code, ErrorCode::corrupt);
  EXPECT_EQ(error_of(zones, "Damaged").message,
            "Time zone \"Damaged\": Invalid time zone file: it does not begin with a header of "
            "TZif. Install the package tzdata again.");
  for (const char* name : {"Empty", "Large"}) {
    EXPECT_EQ(error_of(zones, name).code, ErrorCode::unavailable) << name;
    EXPECT_THAT(error_of(zones, name).message, HasSubstr("Check its permissions and its size."));
  }
}

TEST(ZoneDatabases, CanBeUsedByManyThreads) {
  ZoneDatabase zones;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (const char* name : {"Europe/Madrid", "America/New_York", "Asia/Tokyo", "Nowhere"}) {
        if (auto found = zones.find(name); found.ok()) {
          EXPECT_TRUE(Schedule(expression("@daily"), *found).next(at("2026-01-01T00:00:00Z")));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Sets the variable TZ, which localtime_r() of the C library reads, for the lifetime of the object.
class LibraryZone {
 public:
  explicit LibraryZone(const std::string& name) {
    ::setenv("TZ", (":" + name).c_str(), 1);
    ::tzset();
  }
  LibraryZone(const LibraryZone&) = delete;
  LibraryZone& operator=(const LibraryZone&) = delete;
  ~LibraryZone() {
    ::unsetenv("TZ");
    ::tzset();
  }
  seconds offset_at(sys_seconds at) const {
    ::time_t time = at.time_since_epoch().count();
    ::tm parts{};
    ::localtime_r(&time, &parts);
    return seconds(parts.tm_gmtoff);
  }
};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  const fs::path folder = ZoneDatabase::system_folder;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string name = entry.path().lexically_relative(folder).string();
    bool is_zone = name.front() >= 'A' && name.front() <= 'Z' && name.find('.') == name.npos;
    if (is_zone && entry.is_regular_file()) names.push_back(std::move(name));
  }
  return names;
}

// The C library reads the same files with other code.
TEST(ZoneDatabases, AgreeWithTheLibraryOfCAboutEveryZone) {
  std::vector<std::string> names = all_names();
  EXPECT_GT(names.size(), 500u);
  std::mt19937_64 random(20'261);
  std::size_t changes = 0;
  for (const std::string& name : names) {
    Zone found = zone(name);
    LibraryZone library(name);
    auto agree = [&](sys_seconds at) {
      EXPECT_EQ(found.period_at(at).offset, library.offset_at(at))
          << name << " " << to_text(Instant(at));
    };
    // Both sides of each change from 1880 to 2110.
    sys_seconds end = std::chrono::floor<seconds>(at("2110-01-01T00:00:00Z"));
    for (Period period = found.period_at(std::chrono::floor<seconds>(at("1880-01-01T00:00:00Z")));
         period.end < end; period = found.period_at(period.end)) {
      agree(period.end - seconds(1));
      agree(period.end);
      ++changes;
    }
    for (int i = 0; i < 40; ++i) {
      auto low = at("1860-01-01T00:00:00Z").time_since_epoch().count() / 1'000'000;
      auto high = at("2900-01-01T00:00:00Z").time_since_epoch().count() / 1'000'000;
      agree(sys_seconds(seconds(std::uniform_int_distribution<std::int64_t>(low, high)(random))));
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(changes, 50'000u);
}

}  // namespace
}  // namespace belay::cron
