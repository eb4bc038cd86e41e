// docs/observability.md must list every metric and every entry of the log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "telemetry/families.h"
#include "tests/documents/source_text.h"

namespace belay::documents {
namespace {

std::string_view type_of(const MetricFamily& family) {
  if (family.kind == MetricKind::counter) return "counter";
  return family.kind == MetricKind::gauge ? "gauge" : "histogram";
}

TEST(Observability, EveryMetricIsDocumentedWithItsType) {
  std::string page = text_of("docs/observability.md");
  for (const MetricFamily* family : telemetry::kFamilies) {
    EXPECT_THAT(page, testing::HasSubstr("| `" + std::string(family->name) + "` | " +
                                         std::string(type_of(*family)) + " |"));
  }
  std::size_t rows = 0;
  for (std::size_t at = page.find("| `belay_"); at != page.npos;
       at = page.find("| `belay_", at + 1))
    ++rows;
  EXPECT_EQ(rows, telemetry::kFamilies.size()) << "and no other";
}

// Returns the texts in double quotes that have the form of an event: "run.failed".
std::set<std::string> events_in(const std::string& source) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  std::set<std::string> found;
  for (std::string_view subject :
       {"run", "node", "model", "message", "runs", "store", "http", "alert", "log", "process"}) {
    std::string begin = "\"" + std::string(subject) + ".";
    for (std::size_t at = source.find(begin); at != source.npos; at = source.find(begin, at + 1)) {
      std::size_t end = source.find_first_not_of(kLetters, at + begin.size());
      bool is_event = end != source.npos && source[end] == '"';
      if (is_event) found.insert(source.substr(at + 1, end - at - 1));
    }
  }
  return found;
}

TEST(Observability, EveryEntryOfTheLogIsDocumented) {
  std::string page = text_of("docs/observability.md");
  std::set<std::string> events;
  for (const char* source : {"src/telemetry/observed_store.cc", "src/telemetry/observed_model.cc",
                             "src/telemetry/log.cc", "src/server/api.cc", "src/cli/output.cc"}) {
    events.merge(events_in(text_of(source)));
  }
  EXPECT_GE(events.size(), 18u);
  for (const std::string& event : events) {
    EXPECT_THAT(page, testing::HasSubstr("`" + event + "`"));
  }
}

}  // namespace
}  // namespace belay::documents
