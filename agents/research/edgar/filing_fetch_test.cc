// The fetch of a company from a server on loopback into a data folder.

#include "agents/research/edgar/filing_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agents/research/edgar/edgar_fixture.h"
#include "agents/research/edgar/filing_html.h"
#include "agents/research/filings/data_folders.h"
#include "agents/research/filings/ten_k_text.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kTextName = "10k/AAPL-10-K-2024-11-01.txt";

std::vector<std::string> names_below(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    if (each.is_regular_file()) names.push_back(each.path().filename().string());
  }
  return names;
}

std::vector<FetchOutcome> outcomes_of(const FetchedCompany& company) {
  std::vector<FetchOutcome> outcomes;
  for (const FetchedFile& file : company.files) outcomes.push_back(file.outcome);
  return outcomes;
}

TEST(FilingFetch, WritesTheFilesOfTheBundledData) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  auto company = world.fetch("aapl");
  ASSERT_TRUE(company.ok()) << company.error().message;
  EXPECT_EQ(company->ticker, "AAPL");
  EXPECT_EQ(company->cik, "0000320193");
  EXPECT_EQ(company->entity, "Apple Inc.");
  EXPECT_THAT(company->notes, IsEmpty());
  EXPECT_THAT(outcomes_of(*company), ElementsAre(FetchOutcome::written, FetchOutcome::written));
  EXPECT_THAT(edgar.paths(),
              ElementsAre(kTickersPath, kFactsPath, kSubmissionsPath, kDocumentPath));
  EXPECT_THAT(edgar.requests(), Each(HasSubstr(std::string("User-Agent: ") + kDeclaredAgent)));
  EXPECT_THAT(
      names_below(world.folder().path()),
      UnorderedElementsAre("CIK0000320193.json", "CIK0000320193.json", "tickers.json",
                           "company_tickers.json", "fetched.json", "AAPL-10-K-2024-11-01.txt"));
  EXPECT_TRUE(contents_of(world.folder().file("CIK0000320193.json")) ==
              bundled_file("CIK0000320193.json"));
  EXPECT_EQ(contents_of(world.folder().file(kTextName)), text_of_html(sample_html()).text);
}

TEST(FilingFetch, MakesAFolderThatAnAnalysisReads) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  DataFolders fetched({world.folder().path()});
  DataFolders bundled({bundled_folder()});
  std::string cik = cik_in_folders({world.folder().path()}, "AAPL");
  auto facts = fetched.company_facts(cik);
  ASSERT_TRUE(facts.content) << facts.error;
  EXPECT_EQ(facts.digest, bundled.company_facts("320193").digest);
  auto text = fetched.filing_text("AAPL", *Date::parse("2025-01-01"));
  ASSERT_TRUE(text.content) << text.error;
  TenKText items(text.content->bytes);
  EXPECT_NE(items.item("1A"), nullptr);
}

TEST(FilingFetch, RequestsNoFileThatIsRecent) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  edgar.clear_requests();
  world.clock().move(23h);
  auto again = world.fetch();
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(outcomes_of(*again), Each(FetchOutcome::recent));
  EXPECT_EQ(again->entity, "Apple Inc.");
  EXPECT_GT(again->files[0].bytes, 0u);
  EXPECT_THAT(edgar.requests(), IsEmpty());
}

TEST(FilingFetch, LetsTheServerConfirmOlderFiles) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  edgar.clear_requests();
  world.clock().move(25h);
  auto again = world.fetch();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_THAT(outcomes_of(*again), Each(FetchOutcome::unchanged));
  EXPECT_THAT(edgar.requests(), SizeIs(4));
  EXPECT_THAT(edgar.requests(), Each(HasSubstr("If-None-Match: \"")));
  edgar.clear_requests();
  world.clock().move(1h);
  EXPECT_THAT(outcomes_of(world.fetch().value()), Each(FetchOutcome::recent));
  EXPECT_THAT(edgar.requests(), IsEmpty());
}

TEST(FilingFetch, ReplacesAFileThatTheServerHasChanged) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  edgar.has(kDocumentPath, {"200 OK", "<p>Item 1. Business</p><p>new</p>", "ETag: \"d2\"\r\n"});
  world.options().age_max = 0ms;
  auto again = world.fetch().value();
  EXPECT_THAT(outcomes_of(again), ElementsAre(FetchOutcome::unchanged, FetchOutcome::written));
  EXPECT_THAT(contents_of(world.folder().file(kTextName)), HasSubstr("new"));
}

TEST(FilingFetch, RequestsAFileThatWasDeleted) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  edgar.clear_requests();
  std::filesystem::remove(world.folder().file(kTextName));
  ASSERT_TRUE(world.fetch().ok());
  EXPECT_THAT(edgar.paths(), ElementsAre(kDocumentPath));
  EXPECT_THAT(edgar.requests()[0], Not(HasSubstr("If-None-Match")));
}

TEST(FilingFetch, RefusesAnUnknownTicker) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  auto company = world.fetch("NONE");
  ASSERT_FALSE(company.ok());
  EXPECT_EQ(company.error().code, ErrorCode::not_found);
  EXPECT_EQ(company.error().message, "The SEC's table of tickers does not have NONE.");
  EXPECT_EQ(world.fetch("../x").error().code, ErrorCode::invalid);
  EXPECT_THAT(edgar.paths(), ElementsAre(kTickersPath));
}

TEST(FilingFetch, OfACompanyWithoutFactsNamesIt) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  auto company = world.fetch("BRK.B");
  ASSERT_FALSE(company.ok());
  EXPECT_EQ(company.error().code, ErrorCode::not_found);
  EXPECT_THAT(company.error().message, HasSubstr("the company facts of CIK 0001067983"));
  EXPECT_EQ(cik_in_folders({world.folder().path()}, "BRK-B"), "");
}

TEST(FilingFetch, StoresNoFactsThatCannotBeUsed) {
  std::string facts = bundled_file("CIK0000320193.json");
  std::string other = bundled_file("CIK0001045810.json");
  for (const std::string& body : {facts.substr(0, facts.size() / 2), other, std::string("{}"),
                                  std::string("[1]"), std::string("\x01"), std::string()}) {
    FakeEdgar edgar;
    give_apple(edgar);
    FetchWorld world(edgar);
    ASSERT_TRUE(world.fetch().ok());
    edgar.has(kFactsPath, {"200 OK", body});
    world.options().age_max = 0ms;
    auto company = world.fetch();
    ASSERT_FALSE(company.ok()) << body.substr(0, 100);
    EXPECT_EQ(company.error().code, ErrorCode::corrupt) << company.error().message;
    EXPECT_TRUE(contents_of(world.folder().file("CIK0000320193.json")) == facts);
    EXPECT_THAT(names_below(world.folder().path()), SizeIs(6));
  }
}

TEST(FilingFetch, StoresNoListsThatCannotBeUsed) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.responds(kTickersPath, {"200 OK", "{\"0\":"});
  edgar.responds(kSubmissionsPath, {"200 OK", "{\"name\":\"Apple Inc.\"}"});
  FetchWorld world(edgar);
  auto tickers = world.fetch();
  ASSERT_FALSE(tickers.ok());
  EXPECT_EQ(tickers.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(std::filesystem::exists(world.folder().file("company_tickers.json")));
  auto filings = world.fetch();
  ASSERT_FALSE(filings.ok());
  EXPECT_THAT(filings.error().message, HasSubstr("the list of filings of CIK 0000320193"));
  EXPECT_TRUE(world.fetch().ok());
}

TEST(FilingFetch, NamesAStoredListThatWasChanged) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  std::string path = world.folder().file("submissions/CIK0000320193.json");
  std::string text(contents_of(path).size(), ' ');
  std::ofstream(path, std::ios::binary) << text;
  auto company = world.fetch();
  ASSERT_FALSE(company.ok());
  EXPECT_THAT(company.error().message, HasSubstr(path + "\" has changed"));
}

TEST(FilingFetch, LeavesNoPartOfAFileWhoseBodyIsCut) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kFactsPath, {"200 OK", bundled_file("CIK0000320193.json"), "", 200'000});
  FetchWorld world(edgar);
  auto company = world.fetch();
  ASSERT_FALSE(company.ok());
  EXPECT_EQ(company.error().code, ErrorCode::unavailable);
  EXPECT_THAT(names_below(world.folder().path()),
              UnorderedElementsAre("company_tickers.json", "fetched.json"));
}

TEST(FilingFetch, ThatEndsBetweenTwoFilesContinuesWithTheSecond) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.responds(kDocumentPath, {"403 Forbidden", "<title>Undeclared Automated Tool</title>"});
  FetchWorld world(edgar);
  auto company = world.fetch();
  ASSERT_FALSE(company.ok());
  EXPECT_EQ(company.error().code, ErrorCode::forbidden);
  EXPECT_THAT(names_below(world.folder().path()), Each(Not(EndsWith(".txt"))));
  edgar.clear_requests();
  EXPECT_TRUE(world.fetch().ok());
  EXPECT_THAT(edgar.paths(), ElementsAre(kDocumentPath));
}

bool has_temporary_file(const std::string& folder) {
  std::vector<std::string> names = names_below(folder);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with('.'); });
}

// Stops the loop when a file is being written.
void stop_in_a_file(EventLoop& loop, const std::string& folder) {
  if (has_temporary_file(folder)) return loop.stop();
  loop.call_after(5ms, [&loop, folder] { stop_in_a_file(loop, folder); });
}

TEST(FilingFetch, ThatIsStoppedInABodyLeavesNoPartOfIt) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kFactsPath, {"200 OK", bundled_file("CIK0000320193.json"), "", 200'000, true});
  FetchWorld world(edgar);
  std::string folder = world.folder().path();
  {
    auto loop = make_event_loop();
    auto fetch = world.open().value();
    Spawned running;
    loop->post([&] {
      running = spawn<Result<FetchedCompany>>(*loop, fetch->company("AAPL"),
                                              [](Result<FetchedCompany>) {});
      stop_in_a_file(*loop, folder);
    });
    loop->run();
    EXPECT_TRUE(has_temporary_file(folder));
    running.reset();
  }
  EXPECT_THAT(names_below(folder), UnorderedElementsAre("company_tickers.json", "fetched.json"));
}

TEST(FilingFetch, IsNotDisturbedByTheFilesOfACrash) {
  FakeEdgar edgar;
  give_apple(edgar);
  FetchWorld world(edgar);
  ASSERT_TRUE(world.fetch().ok());
  for (const char* name : {".CIK0000320193.json.abcdef", "10k/.AAPL-10-K-2025-11-01.txt.abcdef"}) {
    std::ofstream(world.folder().file(name)) << "{";
  }
  EXPECT_THAT(outcomes_of(world.fetch().value()), Each(FetchOutcome::recent));
  DataFolders fetched({world.folder().path()});
  EXPECT_TRUE(fetched.company_facts("320193").content);
  auto text = fetched.filing_text("AAPL", *Date::parse("2026-01-01"));
  EXPECT_THAT(text.path, EndsWith(kTextName));
}

TEST(FilingFetch, ReadsOlderListsForMoreReports) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kOlderPath, {"200 OK", R"({"accessionNumber":["0000320193-14-000107"],
    "form":["10-K"],"filingDate":["2014-10-27"],"primaryDocument":["old.htm"]})"});
  std::string base = "/Archives/edgar/data/320193/";
  edgar.has(base + "000032019323000106/aapl-20230930.htm", {"200 OK", sample_html()});
  edgar.has(base + "000032019314000107/old.htm", {"200 OK", "<p>prose without headings</p>"});
  FetchWorld world(edgar);
  world.options().filings = 2;
  ASSERT_THAT(world.fetch().value().files, SizeIs(3));
  EXPECT_THAT(edgar.paths(), Not(Contains(kOlderPath)));
  world.options().filings = 3;
  auto company = world.fetch().value();
  ASSERT_THAT(company.files, SizeIs(4));
  EXPECT_THAT(company.files[3].path, EndsWith("AAPL-10-K-2014-10-27.txt"));
  EXPECT_THAT(company.notes,
              ElementsAre("No items were found in the 10-K of AAPL filed 2014-10-27."));
}

TEST(FilingFetch, TakesTheNewestReportUntilADay) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has("/Archives/edgar/data/320193/000032019323000106/aapl-20230930.htm",
            {"200 OK", sample_html()});
  FetchWorld world(edgar);
  world.options().as_of = Date::parse("2024-10-31");
  auto company = world.fetch().value();
  ASSERT_THAT(company.files, SizeIs(2));
  EXPECT_THAT(company.files[1].path, EndsWith("AAPL-10-K-2023-11-03.txt"));
  world.options().as_of = Date::parse("1990-01-01");
  EXPECT_THAT(world.fetch().value().notes, ElementsAre("The SEC lists no annual report."));
}

TEST(FilingFetch, NotesReportsThatCannotBeRead) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kSubmissionsPath, {"200 OK", R"({"name":"Apple Inc.","filings":{"recent":{
    "accessionNumber":["0000320193-24-000001","0000320193-24-000002","0000320193-24-000003"],
    "form":["10-K","10-K","10-K"],"filingDate":["2024-11-01","2024-11-01","2023-11-01"],
    "primaryDocument":["a.htm","b.txt","c.pdf"]}}})"});
  edgar.has("/Archives/edgar/data/320193/000032019324000002/b.txt",
            {"200 OK", "Item 1.  Business\n\nphones\n"});
  FetchWorld world(edgar);
  world.options().filings = 3;
  auto company = world.fetch().value();
  ASSERT_THAT(company.files, SizeIs(2));
  EXPECT_EQ(contents_of(company.files[1].path), "Item 1.  Business\n\nphones\n");
  EXPECT_THAT(
      company.notes,
      ElementsAre(
          "Of several reports of a day, only one is stored: not the 10-K of AAPL filed 2024-11-01.",
          "The document of the 10-K of AAPL filed 2023-11-01 is not HTML or plain text."));
}

TEST(FilingFetch, StoresNoPageOfTheServerAsAReport) {
  FakeEdgar edgar;
  give_apple(edgar);
  edgar.has(kDocumentPath, {"200 OK", "<title>SEC.gov | Maintenance</title><p>Later.</p>"});
  FetchWorld world(edgar);
  auto company = world.fetch();
  ASSERT_FALSE(company.ok());
  EXPECT_EQ(company.error().code, ErrorCode::corrupt);
  EXPECT_THAT(company.error().message, HasSubstr("it is the page \"SEC.gov | Maintenance\""));
  edgar.has(kDocumentPath, {"200 OK", "<p></p>"});
  EXPECT_THAT(world.fetch().error().message, HasSubstr("it has no text"));
  EXPECT_FALSE(std::filesystem::exists(world.folder().file(kTextName)));
}

TEST(FilingFetch, IsRefusedWithoutADeclaredUserAgent) {
  testing::SimulatedClock clock(*instant_from("2026-02-01T09:00:00Z"));
  testing::SeededRandom random(7);
  EdgarFolder folder;
  FetchOptions options;
  options.folder = folder.path() + "/new";
  auto http = open_http(edgar_policy({}).value()).value();
  auto fetch = FilingFetch::open(http, {}, {}, options, clock, random);
  ASSERT_FALSE(fetch.ok());
  EXPECT_EQ(fetch.error().code, ErrorCode::invalid);
  EXPECT_FALSE(std::filesystem::exists(options.folder));
}

}  // namespace
}  // namespace belay::research
