// The files of a data folder: atomic replacement, copies, tickers, and lists of filings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agents/research/edgar/edgar_fixture.h"
#include "agents/research/files/pending_file.h"
#include "agents/research/files/whole_file.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::size_t files_in_folder(const std::string& path) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

TEST(PendingFile, LeavesTheFormerFileUntilItIsComplete) {
  EdgarFolder folder;
  std::string path = folder.path() + "/a.json";
  ASSERT_TRUE(replace_file(path, "former").ok());
  {
    auto file = PendingFile::create(path).value();
    ASSERT_TRUE(file->add("new").ok());
    EXPECT_EQ(contents_of(path), "former");
  }
  EXPECT_EQ(contents_of(path), "former");
  EXPECT_EQ(files_in_folder(folder.path()), 1u);
  auto file = PendingFile::create(path).value();
  ASSERT_TRUE(file->add("wrong").ok());
  ASSERT_TRUE(file->restart().ok());
  ASSERT_TRUE(file->add("ne").ok());
  ASSERT_TRUE(file->add("w").ok());
  EXPECT_EQ(file->bytes(), 3u);
  ASSERT_TRUE(file->replace().ok());
  EXPECT_EQ(contents_of(path), "new");
  EXPECT_EQ(files_in_folder(folder.path()), 1u);
  struct stat about{};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0644u);
}

TEST(PendingFile, NamesAFolderThatDoesNotExist) {
  auto file = PendingFile::create("/nowhere/at/all/a.json");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::unavailable);
  EXPECT_THAT(file.error().message, HasSubstr("\"/nowhere/at/all/a.json\""));
}

TEST(WholeFile, IsReadUpToItsLimit) {
  EdgarFolder folder;
  std::string path = folder.path() + "/a";
  EXPECT_EQ(read_if_exists(path, 10).value(), std::nullopt);
  ASSERT_TRUE(replace_file(path, "12345").ok());
  EXPECT_EQ(read_if_exists(path, 5).value(), "12345");
  EXPECT_FALSE(read_if_exists(path, 4).ok());
  EXPECT_FALSE(read_if_exists(folder.path(), 1 << 20).ok());
}

TEST(StoredCopies, AreFoundUntilTheirFileChanges) {
  EdgarFolder folder;
  auto copies = StoredCopies::open(folder.path()).value();
  Instant noon = *instant_from("2026-11-21T12:00:00Z");
  ASSERT_TRUE(replace_file(folder.file("a.json"), "12345").ok());
  ASSERT_TRUE(copies.note("a.json", StoredCopy{"https://x/a", "\"1\"", "", noon, 5}).ok());
  auto again = StoredCopies::open(folder.path()).value();
  auto copy = again.find("a.json", "https://x/a");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->etag, "\"1\"");
  EXPECT_TRUE(is_fresh(*copy, noon, 1h));
  EXPECT_TRUE(is_fresh(*copy, noon + 59min, 1h));
  EXPECT_FALSE(is_fresh(*copy, noon + 1h, 1h));
  EXPECT_FALSE(is_fresh(*copy, noon, 0ms));
  EXPECT_FALSE(is_fresh(*copy, noon - 1s, 1h)) << "the clock was set back";
  EXPECT_FALSE(again.find("a.json", "https://x/b"));
  EXPECT_FALSE(again.find("b.json", "https://x/a"));
  ASSERT_TRUE(replace_file(folder.file("a.json"), "123456").ok());
  EXPECT_FALSE(again.find("a.json", "https://x/a"));
  std::filesystem::remove(folder.file("a.json"));
  EXPECT_FALSE(again.find("a.json", "https://x/a"));
}

TEST(StoredCopies, ReplaceADamagedFile) {
  EdgarFolder folder;
  ASSERT_TRUE(StoredCopies::open(folder.path()).ok());
  for (const char* text : {"", "{", "[]", R"({"files":{"a":7}})"}) {
    ASSERT_TRUE(replace_file(folder.file("fetched.json"), text).ok());
    auto copies = StoredCopies::open(folder.path());
    ASSERT_TRUE(copies.ok()) << text;
    EXPECT_FALSE(copies->find("a", ""));
    EXPECT_TRUE(copies->note("a", StoredCopy{}).ok());
  }
  EXPECT_FALSE(StoredCopies::open("/proc/none").ok());
}

TEST(Tickers, HaveCapitalLettersDigitsDotsAndDashes) {
  EXPECT_EQ(ticker_of("aapl"), "AAPL");
  EXPECT_EQ(ticker_of("BRK-B"), "BRK-B");
  EXPECT_EQ(ticker_of("brk.b"), "BRK.B");
  for (const char* text : {"", ".", "-A", "A/B", "../A", "A B", "ABCDEFGHIJKLM", "A\n", "\u00c4"}) {
    EXPECT_EQ(ticker_of(text), std::nullopt) << text;
  }
}

TEST(TickerTable, OfTheSecIsRead) {
  auto table = parse_company_tickers(sample_tickers()).value();
  EXPECT_THAT(table, ElementsAre(Pair("AAPL", "0000320193"), Pair("BRK-B", "0001067983"),
                                 Pair("NVDA", "0001045810")));
  EXPECT_EQ(listed_ticker(table, "AAPL"), "AAPL");
  EXPECT_EQ(listed_ticker(table, "BRK.B"), "BRK-B");
  EXPECT_EQ(listed_ticker(table, "NONE"), std::nullopt);
}

TEST(TickerTable, IgnoresRowsOfAnotherShape) {
  std::string rows = R"({"0":{"cik_str":"1","ticker":"A"},"1":{"cik_str":-1,"ticker":"B"},"2":7,
    "3":{"cik_str":99999999999,"ticker":"C"},"4":{"ticker":"D"},"5":{"cik_str":5,"ticker":"../E"},
    "6":{"cik_str":6,"ticker":"f"}})";
  EXPECT_THAT(parse_company_tickers(rows).value(), ElementsAre(Pair("F", "0000000006")));
  for (const char* text : {"", "[]", "{}", R"({"0":{}})", "{\"0\":"}) {
    auto table = parse_company_tickers(text);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.error().code, ErrorCode::corrupt);
  }
}

TEST(TickerFile, HasTheCompaniesOfAFolder) {
  EdgarFolder one, other;
  ASSERT_TRUE(StoredCopies::open(one.path()).ok());
  ASSERT_TRUE(StoredCopies::open(other.path()).ok());
  ASSERT_TRUE(add_ticker(one.path(), "AAPL", "0000320193").ok());
  ASSERT_TRUE(add_ticker(one.path(), "XYZ", "0000000001").ok());
  ASSERT_TRUE(add_ticker(other.path(), "XYZ", "0000000002").ok());
  EXPECT_THAT(read_tickers(one.path()).value(), SizeIs(2));
  std::vector<std::string> folders{"/nowhere", one.path(), other.path()};
  EXPECT_EQ(cik_in_folders(folders, "AAPL"), "0000320193");
  EXPECT_EQ(cik_in_folders(folders, "XYZ"), "0000000002");
  EXPECT_EQ(cik_in_folders(folders, "NONE"), "");
  EXPECT_EQ(cik_in_folders({}, "AAPL"), "");
  ASSERT_TRUE(replace_file(other.file("tickers.json"), "{").ok());
  EXPECT_EQ(cik_in_folders(folders, "XYZ"), "0000000001");
  EXPECT_FALSE(add_ticker(other.path(), "ABC", "0000000003").ok());
}

TEST(Submissions, HaveAnnualReportsWithoutAmendments) {
  auto all = parse_submissions(sample_submissions()).value();
  EXPECT_EQ(all.entity, "Apple Inc.");
  ASSERT_THAT(all.filings, SizeIs(2));
  EXPECT_EQ(all.filings[0].accession, "0000320193-24-000123");
  EXPECT_EQ(all.filings[0].filed.text(), "2024-11-01");
  EXPECT_EQ(all.filings[1].document, "aapl-20230930.htm");
  ASSERT_THAT(all.older, SizeIs(1));
  EXPECT_EQ(all.older[0].last.text(), "2015-07-28");
  EXPECT_EQ(all.malformed, 0u);
  EXPECT_EQ(archive_path("0000320193", all.filings[0]),
            "320193/000032019324000123/aapl-20240928.htm");
  auto newest = newest_filings(all, 5, *Date::parse("2024-10-31"));
  ASSERT_THAT(newest, SizeIs(1));
  EXPECT_EQ(newest[0].filed.text(), "2023-11-03");
  EXPECT_THAT(newest_filings(all, 0, *Date::parse("2024-12-31")), IsEmpty());
}

TEST(Submissions, OfAForeignCompanyHaveItsForms) {
  std::string text = R"({"accessionNumber":["0000000001-24-000002","0000000001-24-000001"],
    "form":["20-F","40-F"],"filingDate":["2024-01-02","2024-03-01"],
    "primaryDocument":["a.htm",""]})";
  auto all = parse_submissions(text).value();
  ASSERT_THAT(all.filings, SizeIs(2));
  EXPECT_EQ(all.filings[0].form, "40-F");
  EXPECT_EQ(all.filings[0].document, "");
}

TEST(Submissions, IgnoreWhatCouldLeaveTheirFolder) {
  std::string text = R"({"filings":{"recent":{
    "accessionNumber":["0000000001-24-000001","../../x","0000000001-24-000003",
                       "0000000001-24-000004","0000000001-24-000005"],
    "form":["10-K","10-K","10-K","10-K"],"filingDate":["2024-01-02","2024-01-02","today",
    "2024-01-02"],"primaryDocument":["../x.htm","a.htm","a.htm",".x"]},
    "files":[{"name":"../x.json","filingFrom":"2001-01-01","filingTo":"2002-01-01"},
             {"name":"CIK0000320193-submissions-001.json","filingFrom":"x"},7]}})";
  auto all = parse_submissions(text).value();
  EXPECT_THAT(all.filings, IsEmpty());
  EXPECT_THAT(all.older, IsEmpty());
  EXPECT_EQ(all.malformed, 7u);
}

TEST(Submissions, OfAnotherShapeAreRefused) {
  for (const char* text : {"", "{", "[]", "{}", "{\"filings\":{}}", "{\"filings\":7}",
                           R"({"filings":{"recent":{"accessionNumber":7}}})"}) {
    EXPECT_FALSE(parse_submissions(text).ok()) << text;
  }
}

}  // namespace
}  // namespace belay::research
