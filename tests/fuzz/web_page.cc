// A web page of any bytes: its character set, its text, and the rules of a robots.txt.

#include "base/characters.h"
#include "belay/value.h"
#include "tests/fuzz/target.h"
#include "tools/page_text.h"
#include "tools/robots_rules.h"
#include "tools/text_encoding.h"

namespace belay::fuzz {
namespace {

void require_readable(std::string_view text) {
  require(!first_invalid_utf8(text), "the text of a page is UTF-8");
  for (char c : text) {
    require(!is_control(c) || c == '\n' || c == '\t',
            "the text of a page has no control character");
  }
}

void page(std::string_view content_type, std::string_view bytes) {
  std::string charset = tools::charset_of(content_type);
  std::string html = tools::utf8_of(std::string(bytes), charset, tools::Markup::html);
  require(!first_invalid_utf8(html), "a converted page is UTF-8");
  require(html.find('\0') == html.npos, "a converted page has no NUL");
  auto url = net::parse_target("https://example.com/a/b?c");
  tools::PageText text = tools::page_text(html, *url);
  require_readable(text.text);
  require_readable(text.title);
  require(text.title.find('\n') == text.title.npos, "a title is one line");
  std::string line = tools::line_of_html(html);
  require_readable(line);
  require(line.find('\n') == line.npos, "a fragment is one line");
}

void robots(std::string_view path, std::string_view text) {
  auto rules = tools::RobotsRules::from(text, "Belay");
  bool is_permitted = rules.permits("/" + std::string(path));
  require(is_permitted == rules.permits("/" + std::string(path)), "rules are constant");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(WebPage, "web_page") {
  std::string_view first = belay::fuzz::take_line(input);
  belay::fuzz::page(first, input);
  belay::fuzz::robots(first, input);
}
