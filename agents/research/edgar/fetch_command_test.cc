// The command and its settings, as a program.

#include "agents/research/edgar/fetch_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <array>

#include "agents/research/edgar/edgar_fixture.h"
#include "belay/value.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ProgramEnd {
  int code = -1;
  std::string output{};
};

// Executes edgar_program with its standard error in the output.
ProgramEnd program(const std::string& environment, const std::string& words) {
  std::string line = "env " + environment + " " BELAY_EDGAR_PROGRAM " " + words + " 2>&1";
  ProgramEnd end;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (!pipe) return end;
  std::array<char, 4096> buffer;
  while (std::size_t got = ::fread(buffer.data(), 1, buffer.size(), pipe)) {
    end.output.append(buffer.data(), got);
  }
  int status = ::pclose(pipe);
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

std::string servers_of(const FakeEdgar& edgar, const EdgarFolder& home) {
  return "HOME=" + home.path() + " BELAY_RESEARCH_EDGAR_FILES_URL=" + edgar.url() +
         " BELAY_RESEARCH_EDGAR_DATA_URL=" + edgar.url();
}

constexpr const char* kAgentOption = " --user-agent 'Sample Company admin@sample.org'";

TEST(FetchCommand, WritesTheFolder) {
  FakeEdgar edgar;
  give_apple(edgar);
  EdgarFolder home;
  std::string folder = home.path() + "/filings";
  ProgramEnd end =
      program(servers_of(edgar, home), "research fetch aapl --output " + folder + kAgentOption);
  EXPECT_EQ(end.code, 0) << end.output;
  EXPECT_THAT(end.output, AllOf(HasSubstr("AAPL  Apple Inc.  CIK 0000320193"),
                                HasSubstr("written   " + folder + "/edgar/CIK0000320193.json"),
                                HasSubstr("research analyze AAPL --data " + folder)));
  EXPECT_THAT(edgar.requests(), Each(HasSubstr(std::string("User-Agent: ") + kDeclaredAgent)));
  ProgramEnd again =
      program(servers_of(edgar, home),
              "research fetch AAPL --json --quiet --output " + folder + kAgentOption);
  EXPECT_EQ(again.code, 0) << again.output;
  Value document = parse_json(again.output).value();
  EXPECT_EQ(document["requests"].as_int(), 0);
  const Value& company = document["companies"].as_array()->at(0);
  EXPECT_EQ(*company["cik"].as_string(), "0000320193");
  const Value& file = company["files"].as_array()->at(1);
  EXPECT_EQ(*file["outcome"].as_string(), "recent");
  EXPECT_EQ(*file["path"].as_string(), folder + "/edgar/10k/AAPL-10-K-2024-11-01.txt");
}

TEST(FetchCommand, IsRefusedWithoutAUserAgent) {
  FakeEdgar edgar;
  give_apple(edgar);
  EdgarFolder home;
  std::string folder = home.path() + "/filings";
  for (const char* agent : {"", " --user-agent curl"}) {
    ProgramEnd end =
        program(servers_of(edgar, home), "research fetch AAPL --output " + folder + agent);
    EXPECT_EQ(end.code, 2) << end.output;
    EXPECT_THAT(end.output, HasSubstr("The SEC requires both"));
  }
  EXPECT_THAT(edgar.requests(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder));
  ProgramEnd by_setting =
      program(servers_of(edgar, home) + " BELAY_RESEARCH_EDGAR_USER_AGENT='Jo Doe jo@sample.org'",
              "research fetch AAPL --output " + folder);
  EXPECT_EQ(by_setting.code, 0) << by_setting.output;
  EXPECT_THAT(edgar.requests(), Each(HasSubstr("User-Agent: Jo Doe jo@sample.org\r\n")));
}

TEST(FetchCommand, ContinuesAfterACompanyThatItCannotFetch) {
  FakeEdgar edgar;
  give_apple(edgar);
  EdgarFolder home;
  ProgramEnd end =
      program(servers_of(edgar, home), "research fetch NONE,AAPL --json --quiet --output " +
                                           home.path() + "/x" + kAgentOption);
  EXPECT_EQ(end.code, 1) << end.output;
  Value document = parse_json(end.output).value();
  EXPECT_EQ(document["companies"].as_array()->size(), 1u);
  const Value& failure = document["failures"].as_array()->at(0);
  EXPECT_EQ(*failure["ticker"].as_string(), "NONE");
  EXPECT_EQ(*failure["code"].as_string(), "not_found");
}

TEST(FetchCommand, EndsIfTheServerRefusesTheUserAgent) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kTickersPath, {"403 Forbidden", "<title>Undeclared Automated Tool</title>"});
  EdgarFolder home;
  ProgramEnd end = program(servers_of(edgar, home), "research fetch AAPL,NVDA --output " +
                                                        home.path() + "/x" + kAgentOption);
  EXPECT_EQ(end.code, 1) << end.output;
  EXPECT_THAT(end.output, HasSubstr("it does not accept the User-Agent"));
  EXPECT_THAT(edgar.paths(), ElementsAre(kTickersPath));
}

TEST(FetchCommand, ChecksItsOptions) {
  EdgarFolder home;
  std::string environment = "HOME=" + home.path();
  std::string end = " --output " + home.path() + "/x" + kAgentOption;
  for (const char* words : {"AAPL,,MSFT", "../AAPL", "AAPL --as-of today", "AAPL --max-age 1w",
                            "AAPL --max-age -1h", "AAPL --filings 0", "AAPL --filings 21"}) {
    ProgramEnd refused = program(environment, "research fetch " + std::string(words) + end);
    EXPECT_EQ(refused.code, 2) << words << refused.output;
  }
  EXPECT_EQ(program(environment, "research fetch AAPL").code, 2);
  ProgramEnd place = program(environment + " BELAY_RESEARCH_EDGAR_DATA_URL=http://sample.org",
                             "research fetch AAPL" + end);
  EXPECT_EQ(place.code, 2);
  EXPECT_THAT(place.output, HasSubstr("The address of EDGAR must be https://HOST"));
  EXPECT_FALSE(std::filesystem::exists(home.path() + "/x"));
}

TEST(MaximumAge, IsATimeWithItsUnit) {
  EXPECT_EQ(age_from("0").value(), 0ms);
  EXPECT_EQ(age_from("90s").value(), 90s);
  EXPECT_EQ(age_from("30m").value(), 30min);
  EXPECT_EQ(age_from("24h").value(), 24h);
  EXPECT_EQ(age_from("365d").value(), 24h * 365);
  for (const char* text : {"", "5", "h", "1.5h", "-1h", "366d", "99999999999999999999s", "1 h"}) {
    EXPECT_FALSE(age_from(text).ok()) << text;
  }
}

TEST(EdgarSettings, GiveAccessToNetworks) {
  for (const ModuleSetting& setting : edgar_settings()) EXPECT_TRUE(setting.is_access);
  ModuleSettings settings;
  EXPECT_EQ(edgar_places(settings).files, "https://www.sec.gov");
  EXPECT_EQ(edgar_places(settings).data, "https://data.sec.gov");
  settings.values["research_edgar_data_url"] = "http://127.0.0.1:1";
  EXPECT_EQ(edgar_places(settings).data, "http://127.0.0.1:1");
}

}  // namespace
}  // namespace belay::research
