#include "tests/tidy/prose_text.h"

#include <gtest/gtest.h>

namespace belay::tidy {
namespace {

// Passages in brackets; a word after punctuation has a comma before it, one that starts a sentence
// a full stop or a question mark.
std::string prose(std::string path, std::string text) {
  std::string all;
  for (const Passage& passage : passages_of({std::move(path), std::move(text)})) {
    all += "[";
    for (const Word& word : passage.words) {
      if (&word != &passage.words[0]) {
        if (word.gap == Gap::punctuation) all += ",";
        if (word.gap == Gap::sentence) all += ".";
        if (word.gap == Gap::question) all += "?";
        all += " ";
      }
      all += word.text;
    }
    all += passage.end == Gap::question ? "?]" : "]";
  }
  return all;
}

TEST(ProseText, JoinsTheLinesOfACommentUpToAnEmptyOne) {
  EXPECT_EQ(prose("a.cc", "// One\n// two.\n//\n// Three\nint a;\n// four\n"),
            "[One two][Three][four]");
  EXPECT_EQ(prose("a.cc", "/* One\n * two\n *\n * three */\n"), "[One two][three]");
}

TEST(ProseText, StartsAPassageAtACommentAfterCode) {
  EXPECT_EQ(prose("a.h", "int a;  // first,\n        // continued\nint b;  // second\n"),
            "[first, continued][second]");
}

TEST(ProseText, JoinsAdjacentStringLiterals) {
  EXPECT_EQ(prose("a.cc", "f(\"no \" \"run\\n\" // why\n \"here\", R\"(raw\ntext)\", 'c');"),
            "[why][no run here][raw text]");
  EXPECT_EQ(prose("a.cc", "#include \"a/b.h\"\n"), "");
}

TEST(ProseText, SeparatesSentencesAndPunctuation) {
  EXPECT_EQ(prose("a.cc", "// One, two. Three? \"Four.\" Five a.b (six)\n"),
            "[One, two. Three? Four. Five a, b, six]");
  EXPECT_EQ(prose("a.cc", "// Who is it?\n"), "[Who is it?]");
}

TEST(ProseText, KeepsHyphensAndApostrophesInWords) {
  EXPECT_EQ(prose("a.cc", "// time-out can't - 'quoted' snake_case --flag\n"),
            "[time-out can't, quoted, snake_case, flag]");
}

TEST(ProseText, CountsACodeSpanAsOneWord) {
  EXPECT_EQ(prose("a.md", "the `verb a b` says\n"), "[the ` says]");
  EXPECT_EQ(prose("a.md", "an odd ` backtick\n"), "[an odd, backtick]");
}

TEST(ProseText, LeavesOutCodeAndQuotationsOfDocuments) {
  EXPECT_EQ(prose("a.md",
                  "# Head\nOne\ntwo\n```cpp\nint code;\n```\n> quoted\n\n    indented code\n\n"
                  "<!-- from a\n b -->\nthree\n"),
            "[Head][One two][three]");
  EXPECT_EQ(prose("a.md", "see [the *queues*](docs/queues.md#a) here\n"),
            "[see, the queues, here]");
}

TEST(ProseText, SplitsListsAndTables) {
  EXPECT_EQ(prose("a.md", "- one\n  more\n- two\n\n      still two\n\n1. three\n"),
            "[one more][two][still two][three]");
  EXPECT_EQ(prose("a.md", "| a b | c |\n|---|---|\n| d | e |\n"), "[a b][c][d][e]");
}

TEST(ProseText, ReadsTheCommentsOfScripts) {
  EXPECT_EQ(prose("scripts/a", "#!/bin/sh\n# One\n# two\nf \"$#\" '# no' ${a#b}  # three\n"),
            "[One two][three]");
  EXPECT_EQ(prose("CMakeLists.txt", "add(a)  # one\n"), "[one]");
  EXPECT_EQ(prose("data.txt", "# not prose\n"), "");
}

TEST(ProseText, NamesTheLineOfEveryWord) {
  auto passages = passages_of({"a.cc", "\n// one\n// two\nf(R\"(three\nfour)\");\n"});
  ASSERT_EQ(passages.size(), 2u);
  EXPECT_EQ(passages[0].words[0].line, 2);
  EXPECT_EQ(passages[0].words[1].line, 3);
  EXPECT_EQ(passages[1].words[0].line, 4);
  EXPECT_EQ(passages[1].words[1].line, 5);
}

TEST(ProseText, EndsOnAnyText) {
  for (std::string_view text : {"`", "```", "<!--", "|", "- ", "#", "\"", "//", "/*", "\xE2", "](",
                                "> ", "1.", "'", "\\"}) {
    for (std::string_view path : {"a.md", "a.cc", "a.cmake"}) {
      passages_of({std::string(path), std::string(text)});
    }
  }
}

}  // namespace
}  // namespace belay::tidy
