// The readable text of pages, usual and hostile ones.

#include "tools/page_text.h"

#include <gtest/gtest.h>

#include "belay/value.h"

namespace belay::tools {
namespace {

constexpr std::size_t page_bytes = 2 * 1024 * 1024;

PageText page(const std::string& html) {
  return page_text(html, net::parse_target("https://example.com/a/b?c").value());
}
std::string text(const std::string& html) { return page(html).text; }

std::string repeated(std::string_view part, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += part;
  return all;
}

TEST(PageText, HasHeadingsParagraphsAndItems) {
  EXPECT_EQ(text("<h1>Trains</h1><p>A <b>bold</b>\n  text.<p>Another<br>line"
                 "<h3>More</h3><ul><li>One<li>Two<ol><li>Inner<li><p>Other</p></ol></ul>End"),
            "# Trains\n\nA bold text.\n\nAnother\nline\n\n### More\n\n- One\n- Two\n  1. Inner\n\n"
            "  2. Other\n\nEnd");
}

TEST(PageText, HasTheTitleApart) {
  PageText read = page("<head><title> A &amp;\n B </title></head><p>Text");
  EXPECT_EQ(read.title, "A & B");
  EXPECT_EQ(read.text, "Text");
  EXPECT_TRUE(read.is_whole);
}

TEST(PageText, HasLinksWithTheirAbsoluteUrl) {
  EXPECT_EQ(text("<a href='../x y?z#f'>one</a> <a href='//e.org/./a/../b'> two </a>."
                 "<a href='#f'>three</a><a href='javascript:f()'> four</a>"
                 "<a href=mailto:a@b.c> five</a><a href='/\u00e9'> six</a>"),
            "[one](https://example.com/x%20y?z) [two](https://e.org/b) .three four five "
            "[six](https://example.com/%C3%A9)");
  EXPECT_EQ(text("<base href='http://e.org/d/'><base href='/no'><a href=f>g</a>"),
            "[g](http://e.org/d/f)");
  EXPECT_EQ(text("<a href=/i><img alt='A picture'></a><a href=/empty></a>"),
            "[A picture](https://example.com/i)");
  EXPECT_EQ(text("<a href='/" + std::string(3'000, 'x') + "'>long</a>"), "long");
  EXPECT_EQ(page_text("<a href=x>y</a>", std::nullopt).text, "y");
}

TEST(PageText, HasTablesAsRows) {
  EXPECT_EQ(text("<table><tr><th>Name<th>Price</tr><tr><td><p>Ticket</p><td><td>5 &euro;"
                 "<tr><td><td>x</table>after"),
            "Name | Price\nTicket | | 5 \u20ac\n| x\n\nafter");
  // A table for the layout of a page.
  EXPECT_EQ(text("<table><tr><td><h2>Head</h2><p>One</p><p>Two</p><td>Side</table>"),
            "## Head\n\nOne\n\nTwo\n\nSide");
}

TEST(PageText, KeepsPreformattedText) {
  EXPECT_EQ(text("<p>a<pre>\nint  x;\n\n  <b>return</b>\n</pre>b"),
            "a\n\n```\nint  x;\n\n  return\n```\n\nb");
}

TEST(PageText, LeavesOutScriptsHiddenElementsAndNavigation) {
  EXPECT_EQ(text("<nav>n</nav><script>s</p>\"</script><style>t</style><noscript>n</noscript>"
                 "<template>t</template><svg><title>v</title></svg><p hidden>h</p>"
                 "<div style='a:b; DISPLAY : none !important'>d</div><i aria-hidden=true>i</i>"
                 "<div role=navigation>r</div><select><option>o</select><iframe>f</iframe>"
                 "<!-- c --><textarea>a</textarea><p>Text<aside>ad</aside><footer>f</footer>"),
            "Text");
  EXPECT_EQ(text("<main><p>Text<aside>note</aside></main>"), "Text\n\nnote");
  EXPECT_EQ(text("<nav><a href=/x>Only</a></nav><script>s</script>"),
            "[Only](https://example.com/x)");
}

TEST(PageText, OmitsInvisibleCharacters) {
  EXPECT_EQ(text("a\u200bb\u00adc \U000e0041\U000e0042d\x01&nbsp;e"), "abc d e");
}

TEST(PageText, DecodesEntities) {
  EXPECT_EQ(text("&lt;p&gt; &amp;amp; &eacute;&#233;&#xe9; &unknown; &#xD800;&#0;&#99999999;x"),
            "<p> &amp; \u00e9\u00e9\u00e9 &unknown; x");
}

TEST(PageText, ReadsPagesThatEndAnywhere) {
  std::string html = "<!DOCTYPE html><ul><li><a href='x'>l</a><td>&amp;<!-- c --><pre>p</x>";
  for (std::size_t size = 0; size <= html.size(); ++size) {
    EXPECT_TRUE(page(html.substr(0, size)).is_whole) << size;
  }
  EXPECT_EQ(text("</p>a</body></html>b"), "a\n\nb");
  EXPECT_EQ(text("<b>a<i>b</b>c</i>d"), "abcd");
  EXPECT_EQ(text("1 < 2 <3"), "1 < 2 <3");
}

TEST(PageText, ReadsAMillionNestedTags) {
  for (const char* tag : {"<b>", "<div>", "<ul><li>", "<table><tr><td>", "<a href=x>"}) {
    PageText read = page(repeated(tag, 1'000'000) + "text");
    EXPECT_TRUE(read.is_whole) << tag;
    EXPECT_TRUE(read.text.find("text") != std::string::npos) << tag;
  }
}

// Each would take minutes or hours without a limit.
TEST(PageText, StopsWhereTheParserWouldTakeTooLong) {
  std::string names;
  for (int i = 0; i < 7'000; ++i) names += " a" + std::to_string(i);
  for (const std::string& html :
       {repeated("<b>", page_bytes / 7) + repeated("</i>", page_bytes / 7),
        repeated("<b>", page_bytes / 9) + repeated("<body>", page_bytes / 9),
        repeated("<i>", page_bytes / 9) + repeated("<div>", 1'000) +
            repeated("</i>", page_bytes / 9),
        repeated("<a" + names + ">", 50), repeated("<body" + names + ">", 50),
        "<a" + names + repeated(" a2999", page_bytes / 8) + ">",
        repeated("<frameset>", page_bytes / 20) + repeated("<b>", page_bytes / 6)}) {
    EXPECT_FALSE(page(html).is_whole) << html.substr(0, 20);
  }
}

TEST(PageText, HasABoundedSize) {
  std::string html = "<base href='/" + std::string(1'900, 'x') + "/'>";
  PageText read = page(html + repeated("<a href=y>z</a> ", page_bytes / 16));
  EXPECT_FALSE(read.is_whole);
  EXPECT_LT(read.text.size(), 9u * 1024 * 1024);
  EXPECT_EQ(page("<title>" + std::string(page_bytes, 'x')).title.size(), 1'000u);
}

TEST(PageText, IsLinearForRepeatedParts) {
  for (const char* part :
       {"<",        "<!",   "<!--",       "<?",   "</",     "&",         "&#",      "<a b=\"",
        "<script>", "</p>", "<p>",        "<h1>", "\n",     "<pre>",     "<title>", "<li>",
        "<tr>",     "<td>", "<!DOCTYPE ", "<b/>", "<form>", "<a href=x>"}) {
    // An eighth of the largest page: a quadratic cost would exceed the time of the test here, too.
    PageText read = page(repeated(part, page_bytes / 8 / std::string_view(part).size()));
    EXPECT_FALSE(first_invalid_utf8(read.text)) << part;
  }
}

TEST(PageText, OfAFragmentIsOneLine) {
  EXPECT_EQ(line_of_html("A <strong>bold</strong>\n&amp; <a href=x>linked</a><p>text"),
            "A bold & linked text");
  EXPECT_EQ(line_of_html(""), "");
}

}  // namespace
}  // namespace belay::tools
