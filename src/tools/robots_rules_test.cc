// The rules of robots.txt, with the examples of RFC 9309.

#include "tools/robots_rules.h"

#include <gtest/gtest.h>

namespace belay::tools {
namespace {

bool permits(std::string_view text, std::string_view path, std::string_view product = "Belay") {
  return RobotsRules::from(text, product).permits(path);
}

TEST(RobotsRules, PermitEverythingWithoutRules) {
  for (const char* text : {"", "\n", "# nothing", "User-agent: *", "Disallow: /\n",
                           "User-agent: *\nDisallow:", "<html><p>Not found: /</p></html>",
                           "User-agent: Other\nDisallow: /"}) {
    EXPECT_TRUE(permits(text, "/a")) << text;
  }
  EXPECT_TRUE(RobotsRules().permits("/a"));
}

// RFC 9309, section 5.1.
constexpr std::string_view simple_example =
    "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n"
    "User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n"
    "User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n"
    "User-Agent: quxbot\n";

TEST(RobotsRules, AreThoseOfTheGroupThatNamesTheProduct) {
  EXPECT_TRUE(permits(simple_example, "/example/page.html", "FooBot"));
  EXPECT_TRUE(permits(simple_example, "/example/allowed.gif", "foobot/1.0"));
  EXPECT_FALSE(permits(simple_example, "/publications/", "foobot"));
  for (const char* product : {"barbot", "BazBot"}) {
    EXPECT_FALSE(permits(simple_example, "/example/page.html", product)) << product;
    EXPECT_TRUE(permits(simple_example, "/example/other.gif", product)) << product;
  }
  EXPECT_TRUE(permits(simple_example, "/example/page.html", "quxbot"));
  EXPECT_FALSE(permits(simple_example, "/example/page.html", "other"));
  EXPECT_FALSE(permits(simple_example, "/a/b.gif", "other"));
  EXPECT_TRUE(permits(simple_example, "/a/b.gif?c", "other"));
  EXPECT_TRUE(permits(simple_example, "/publications/", "other"));
  // The token is compared as a whole.
  EXPECT_TRUE(permits(simple_example, "/publications/", "foo"));
  EXPECT_TRUE(permits(simple_example, "/publications/", "foobots"));
}

// RFC 9309, section 5.2.
TEST(RobotsRules, TheLongestMatchDecides) {
  constexpr std::string_view text =
      "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
  EXPECT_FALSE(permits(text, "/example/page/disallowed.gif", "foobot"));
  EXPECT_TRUE(permits(text, "/example/page/", "foobot"));
  constexpr std::string_view reversed =
      "User-agent: *\nDisallow: /a/b/c\nAllow: /a/b\nDisallow: /a\n";
  EXPECT_FALSE(permits(reversed, "/a/x"));
  EXPECT_TRUE(permits(reversed, "/a/b/x"));
  EXPECT_FALSE(permits(reversed, "/a/b/cd"));
}

TEST(RobotsRules, OfTwoEqualMatchesTheOneThatPermitsDecides) {
  EXPECT_TRUE(permits("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a"));
  EXPECT_TRUE(permits("User-agent: *\nAllow: /a\nDisallow: /a\n", "/a"));
}

// RFC 9309, section 2.2.1.
TEST(RobotsRules, GroupsOfOneProductAreCombined) {
  constexpr std::string_view text =
      "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: *\ndisallow: /\n\n"
      "User-Agent: examplebot\nDisallow: /baz\n";
  for (const char* path : {"/foo", "/bar", "/baz"}) {
    EXPECT_FALSE(permits(text, path, "ExampleBot")) << path;
  }
  EXPECT_TRUE(permits(text, "/other", "ExampleBot"));
}

TEST(RobotsRules, OtherRecordsEndNoGroup) {
  constexpr std::string_view text =
      "Sitemap: https://example.com/a.xml\nUser-agent: Belay\nCrawl-delay: 5\nUser-agent: other\n"
      "Sitemap: https://example.com/b.xml\nDisallow: /a\nNo rule\n: /\nDisallow: /b\n";
  EXPECT_FALSE(permits(text, "/a"));
  EXPECT_FALSE(permits(text, "/b"));
  EXPECT_FALSE(permits(text, "/b", "other"));
}

TEST(RobotsRules, ComparePathsWithTheirCase) {
  EXPECT_TRUE(permits("User-agent: *\nDisallow: /Private", "/private"));
  EXPECT_FALSE(permits("User-agent: *\nDISALLOW: /Private", "/Private/a"));
}

// RFC 9309, section 2.2.2, table 1: a rule matches in each spelling of the path.
TEST(RobotsRules, CompareEncodedPaths) {
  struct Case {
    const char* rule;
    const char* path;
  };
  for (Case each :
       {Case{"/foo/bar?baz=quz", "/foo/bar?baz=quz"},
        Case{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"},
        Case{"/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"},
        Case{"/foo/bar/\u30c4", "/foo/bar/%E3%83%84"},
        Case{"/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"},
        Case{"/foo/bar/%62%61%7A", "/foo/bar/baz"}, Case{"/foo/bar/baz", "/foo/bar/%62%61%7A"}}) {
    std::string text = "User-agent: *\nDisallow: " + std::string(each.rule);
    EXPECT_FALSE(permits(text, each.path)) << each.rule;
  }
  EXPECT_TRUE(permits("User-agent: *\nDisallow: /a%2Fb", "/a/b"));
}

// RFC 9309, section 2.2.3, tables 2 and 3.
TEST(RobotsRules, SpecialCharacters) {
  EXPECT_TRUE(permits("User-agent: *\nDisallow: / # comment\nAllow: /a # b", "/a"));
  constexpr std::string_view anchored = "User-agent: *\nDisallow: /this/path/exactly$";
  EXPECT_FALSE(permits(anchored, "/this/path/exactly"));
  EXPECT_TRUE(permits(anchored, "/this/path/exactly/not"));
  constexpr std::string_view star = "User-agent: *\nDisallow: /this/*/exactly";
  EXPECT_FALSE(permits(star, "/this/path/exactly"));
  EXPECT_FALSE(permits(star, "/this//exactly?a"));
  EXPECT_TRUE(permits(star, "/this/exactly"));
  constexpr std::string_view literal =
      "User-agent: *\nDisallow: /path/file-with-a-%2A.html\nDisallow: /path/foo-%24";
  EXPECT_FALSE(permits(literal, "/path/file-with-a-*.html"));
  EXPECT_TRUE(permits(literal, "/path/file-with-a-b.html"));
  EXPECT_FALSE(permits(literal, "/path/foo-$"));
  EXPECT_FALSE(permits("User-agent: *\nDisallow: /a$b", "/a$b/c"));
}

TEST(RobotsRules, StarsMatchAnyText) {
  constexpr std::string_view text = "User-agent: *\nDisallow: /*/b*c*d$";
  EXPECT_FALSE(permits(text, "/a/bcd"));
  EXPECT_FALSE(permits(text, "/a/b-c-d-d"));
  EXPECT_TRUE(permits(text, "/a/b-d-c"));
  EXPECT_TRUE(permits(text, "/a/bcde"));
  EXPECT_FALSE(permits("User-agent: *\nDisallow: *", "/"));
  EXPECT_FALSE(permits("User-agent: *\nDisallow: /**$", "/a"));
}

TEST(RobotsRules, NeverApplyToTheFileItself) {
  EXPECT_TRUE(permits("User-agent: *\nDisallow: /", "/robots.txt"));
  EXPECT_FALSE(permits("User-agent: *\nDisallow: /", "/robots.txt?a"));
}

TEST(RobotsRules, AcceptEveryLineEndAndAByteOrderMark) {
  for (const char* text :
       {"User-agent: *\rDisallow: /a\r", "User-agent: *\r\n\r\nDisallow: /a",
        "\xef\xbb\xbfUser-agent: *\nDisallow: /a", "  user-AGENT  :  *  \n\t disallow\t:\t/a "}) {
    EXPECT_FALSE(permits(text, "/a")) << text;
  }
}

TEST(RobotsRules, IgnoreWhatFollows500Kibibytes) {
  std::string text = "User-agent: *\nDisallow: /a\n";
  text += "#" + std::string(robots_bytes_max, 'x') + "\nDisallow: /b\n";
  EXPECT_FALSE(permits(text, "/a"));
  EXPECT_TRUE(permits(text, "/b"));
}

TEST(RobotsRules, AreFastForHostileInput) {
  std::string text = "User-agent: *\n";
  while (text.size() < robots_bytes_max) {
    text += "Disallow: /";
    for (int i = 0; i < 500; ++i) text += "*a";
    text += "b\n";
  }
  EXPECT_TRUE(permits(text, "/" + std::string(8'000, 'a')));
  EXPECT_FALSE(permits("User-agent: *\nDisallow: /%\nDisallow: /%4\nDisallow: /%zz", "/%zz"));
}

}  // namespace
}  // namespace belay::tools
