#include "tools/local_search.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/conformance/temporary_folder.h"

namespace belay::tools {
namespace {

namespace fs = std::filesystem;

class LocalSearchIn : public ::testing::Test {
 protected:
  LocalSearchIn() { fs::create_directory(documents()); }

  std::string documents() const { return folder_.file("documents"); }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories(fs::path(documents() + "/" + name).parent_path());
    std::ofstream(documents() + "/" + name, std::ios::binary) << text;
  }
  LocalSearchOptions options() const { return {.folders = {documents()}}; }
  std::shared_ptr<LocalSearch> open() const { return LocalSearch::open(options()).value(); }

  conformance::TemporaryFolder folder_;
};

std::vector<std::string> places(Result<SearchAnswer> answer) {
  std::vector<std::string> all;
  if (!answer.ok()) return {answer.error().message};
  for (const SearchHit& hit : answer->results) {
    all.push_back(hit.file + ":" + std::to_string(hit.line));
  }
  return all;
}

using Places = std::vector<std::string>;

TEST_F(LocalSearchIn, FindsParagraphsWithTheirLine) {
  write("a.txt", "The first\nparagraph.\n\n\nA second one about trains.\n");
  write("deep/b.md", "# Birds\n\nNothing else.\n");
  write("c.html", "<html><p>One.</p>\n<p>Two &amp; more <b>tr</b>ains.</p></html>");
  auto search = open();
  EXPECT_EQ(places(search->search("paragraph", 5)), Places{"documents/a.txt:1"});
  EXPECT_EQ(places(search->search("birds", 5)), Places{"documents/deep/b.md:1"});
  auto trains = search->search("trains", 5).value();
  ASSERT_EQ(trains.results.size(), 2u);
  EXPECT_EQ(trains.results[0].text, "Two & more trains.");
  EXPECT_EQ(trains.results[0].line, 2);
  EXPECT_EQ(trains.results[1].text, "A second one about trains.");
  EXPECT_EQ(trains.results[1].line, 5);
  EXPECT_EQ(trains.note, "");
}

TEST_F(LocalSearchIn, RanksParagraphsWithMoreAndRarerWordsFirst) {
  for (int i = 0; i < 20; ++i) write("common" + std::to_string(i) + ".txt", "The report is long.");
  write("rare.txt", "The report on zebras is short.");
  EXPECT_EQ(places(open()->search("report zebras", 1)), Places{"documents/rare.txt:1"});
}

TEST_F(LocalSearchIn, FindsOtherFormsOfAWordAndIgnoresCaseAndAccents) {
  write("a.txt", "Caf\u00e9s were OPENED.");
  EXPECT_EQ(places(open()->search("cafe", 5)), Places{"documents/a.txt:1"});
  EXPECT_EQ(places(open()->search("opening", 5)), Places{"documents/a.txt:1"});
}

TEST_F(LocalSearchIn, NoQueryIsAnErrorOrAnOperator) {
  write("a.txt", "one two three near not and or text line rank");
  auto search = open();
  for (const char* query : {"\"",
                            "\"\"\"",
                            "one AND",
                            "NOT",
                            "NEAR(one two",
                            "one*",
                            "*",
                            "text:one",
                            "line : one",
                            "{text line}: one",
                            "-one",
                            "+one",
                            "^one",
                            "(one",
                            "one)",
                            "one OR",
                            "' OR 1=1 --",
                            "%",
                            "?",
                            ";",
                            "\\",
                            "rank MATCH 'bm25()'",
                            "\x01one",
                            "\xff\xfe",
                            "one\"two",
                            "()",
                            "\"one"}) {
    auto answer = search->search(query, 5);
    EXPECT_TRUE(answer.ok()) << query << ": " << answer.error().message;
  }
  EXPECT_TRUE(places(search->search("four*", 5)).empty());
  EXPECT_TRUE(places(search->search("NOT_there", 5)).empty());
  EXPECT_TRUE(places(search->search(" \n ", 5)).empty());
  EXPECT_TRUE(places(search->search(std::string(100'000, 'x'), 5)).empty());
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "w" + std::to_string(i) + " ";
  EXPECT_TRUE(places(search->search(many, 5)).empty());
}

TEST(MatchQuery, QuotesEveryWord) {
  EXPECT_EQ(match_query("one AND two"), R"("one" OR "AND" OR "two")");
  EXPECT_EQ(match_query("a\"b*"), R"("a" OR "b*")");
  EXPECT_EQ(match_query(""), "");
}

TEST_F(LocalSearchIn, ReadsAFileAgainOnlyIfItHasChanged) {
  write("a.txt", "old words");
  write("b.txt", "others");
  auto search = open();
  EXPECT_EQ(search->indexed(), 2u);
  EXPECT_EQ(places(search->search("old", 5)).size(), 1u);
  EXPECT_EQ(search->indexed(), 2u);
  write("a.txt", "replaced by longer words");
  EXPECT_TRUE(places(search->search("old", 5)).empty());
  EXPECT_EQ(places(search->search("replaced", 5)).size(), 1u);
  EXPECT_EQ(search->indexed(), 3u);
  // The same size, another time.
  write("b.txt", "uthers");
  fs::last_write_time(documents() + "/b.txt",
                      fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(places(search->search("uthers", 5)).size(), 1u);
  fs::remove(documents() + "/a.txt");
  EXPECT_TRUE(places(search->search("replaced", 5)).empty());
}

TEST_F(LocalSearchIn, SkipsLinksHiddenNamesAndOtherFiles) {
  std::ofstream(folder_.file("secret.txt")) << "secret";
  fs::create_symlink("../secret.txt", documents() + "/link.txt");
  fs::create_directory_symlink("..", documents() + "/up");
  write(".hidden/a.txt", "secret");
  write(".a.txt", "secret");
  write("a.cc", "secret");
  write("txt", "secret");
  EXPECT_TRUE(places(open()->search("secret", 5)).empty());
}

TEST_F(LocalSearchIn, ReportsThatALimitIsReached) {
  for (int i = 0; i < 4; ++i) write(std::to_string(i) + ".txt", "word");
  LocalSearchOptions limited = options();
  limited.files_max = 3;
  auto answer = LocalSearch::open(limited).value()->search("word", 9).value();
  EXPECT_EQ(answer.results.size(), 3u);
  EXPECT_NE(answer.note, "");
  limited = options();
  limited.bytes_max = 10;
  EXPECT_EQ(LocalSearch::open(limited).value()->search("word", 9)->results.size(), 2u);
  limited = options();
  limited.file_bytes_max = 3;
  EXPECT_EQ(LocalSearch::open(limited).value()->search("word", 9)->results.size(), 0u);
  limited = options();
  limited.results_max = 2;
  EXPECT_EQ(LocalSearch::open(limited).value()->search("word", 9)->results.size(), 2u);
}

TEST_F(LocalSearchIn, KeepsItsIndexInAFile) {
  write("a.txt", "one");
  LocalSearchOptions kept = options();
  kept.index = folder_.file("index");
  EXPECT_EQ(LocalSearch::open(kept).value()->indexed(), 1u);
  auto again = LocalSearch::open(kept).value();
  EXPECT_EQ(again->indexed(), 0u);
  EXPECT_EQ(places(again->search("one", 5)).size(), 1u);
  EXPECT_EQ(LocalSearch::open(kept).error().code, ErrorCode::unavailable);
}

TEST_F(LocalSearchIn, RefusesAFileThatIsNotAnIndex) {
  LocalSearchOptions kept = options();
  kept.index = folder_.file("index");
  std::ofstream(kept.index) << std::string(5'000, 'x');
  EXPECT_EQ(LocalSearch::open(kept).error().code, ErrorCode::corrupt);
  EXPECT_EQ(fs::file_size(kept.index), 5'000u);
}

TEST_F(LocalSearchIn, AMissingFolderIsAnError) {
  LocalSearchOptions missing;
  EXPECT_EQ(LocalSearch::open(missing).error().code, ErrorCode::invalid);
  missing.folders = {folder_.file("missing")};
  EXPECT_EQ(LocalSearch::open(missing).error().code, ErrorCode::invalid);
}

TEST(Paragraphs, OfHtmlHaveNoTagsScriptsOrComments) {
  auto found = paragraphs_of_html(
      "<!DOCTYPE html><head><title>T</title><style>p { x }</style></head>\n"
      "<script>var a = '<p>';</SCRIPT><!-- no\n --><h1>A&#66;&#x43; &lt;d&gt; &unknown;</h1>"
      "<td>1</td><td>2</td> 3 < 4");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "T");
  EXPECT_EQ(found[1].text, "ABC <d> &unknown;");
  EXPECT_EQ(found[1].line, 3);
  EXPECT_EQ(found[2].text, "1 2 3 < 4");
}

TEST(Paragraphs, OfAnyLengthAreDivided) {
  auto words = paragraphs_of_text(std::string(20'000, 'a') + " " + std::string(50, 'b'));
  for (const Paragraph& each : words) EXPECT_LE(each.text.size(), 2 * paragraph_bytes_max);
  std::string euro;
  for (int i = 0; i < 5'000; ++i) euro += "\u20ac";
  for (const Paragraph& each : paragraphs_of_text(euro)) {
    EXPECT_FALSE(first_invalid_utf8(each.text));
  }
  EXPECT_TRUE(paragraphs_of_html("<p").empty());
  EXPECT_TRUE(paragraphs_of_html("<!-- <script>").empty());
  EXPECT_TRUE(paragraphs_of_html("<script><p>").empty());
}

}  // namespace
}  // namespace belay::tools
