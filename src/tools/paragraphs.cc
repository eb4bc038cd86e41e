#include "tools/paragraphs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "net/ascii.h"

namespace belay::tools {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Builder {
 public:
  void add(char c) {
    if (c == '\n') ++line_;
    if (is_space(c)) {
      if (current_.text.size() >= paragraph_bytes_max) end_paragraph();
      needs_space_ = !current_.text.empty();
      return;
    }
    bool begins_character = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins_character && current_.text.size() >= 2 * paragraph_bytes_max) end_paragraph();
    if (current_.text.empty()) current_.line = line_;
    if (needs_space_) current_.text += ' ';
    needs_space_ = false;
    current_.text += c;
  }
  void add(std::string_view text) {
    for (char c : text) add(c);
  }
  // Counts the lines of a part that has no text.
  void skip(std::string_view part) { line_ += std::count(part.begin(), part.end(), '\n'); }
  void end_paragraph() {
    needs_space_ = false;
    if (current_.text.empty()) return;
    paragraphs_.push_back(std::move(current_));
    current_ = Paragraph{};
  }
  std::vector<Paragraph> end() {
    end_paragraph();
    return std::move(paragraphs_);
  }

 private:
  std::vector<Paragraph> paragraphs_;
  Paragraph current_;
  std::int64_t line_ = 1;
  bool needs_space_ = false;
};

constexpr std::array<std::string_view, 38> block_tags = {
    "address", "article", "aside", "blockquote", "body",   "caption", "dd",     "details",
    "div",     "dl",      "dt",    "figcaption", "figure", "footer",  "form",   "h1",
    "h2",      "h3",      "h4",    "h5",         "h6",     "head",    "header", "hr",
    "html",    "li",      "main",  "nav",        "ol",     "option",  "p",      "pre",
    "section", "summary", "table", "title",      "tr",     "ul"};

struct Entity {
  std::string_view name;
  std::string_view text;
};
constexpr Entity entities[] = {{"amp", "&"},        {"lt", "<"},         {"gt", ">"},
                               {"quot", "\""},      {"apos", "'"},       {"nbsp", " "},
                               {"ndash", "\u2013"}, {"mdash", "\u2014"}, {"hellip", "\u2026"},
                               {"rsquo", "\u2019"}};
constexpr std::size_t entity_bytes_max = 12;

void append_utf8(std::uint32_t code, std::string& out) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Returns the text of "amp", "#38" or "#x26".
std::optional<std::string> entity_text(std::string_view name) {
  for (const Entity& each : entities) {
    if (each.name == name) return std::string(each.text);
  }
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  bool is_hex = name.starts_with('x') || name.starts_with('X');
  if (is_hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  auto read = std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  bool is_whole = read.ec == std::errc() && read.ptr == name.data() + name.size();
  bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (!is_whole || is_surrogate || code > 0x10ffff) return std::nullopt;
  std::string text;
  append_utf8(code, text);
  return text;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : rest_(html) {}

  std::vector<Paragraph> read() {
    while (!rest_.empty()) {
      if (rest_.starts_with("<!--")) {
        skip_past("-->");
      } else if (begins_tag()) {
        read_tag();
      } else if (rest_.front() == '&') {
        read_entity();
      } else {
        builder_.add(rest_.front());
        rest_.remove_prefix(1);
      }
    }
    return builder_.end();
  }

 private:
  bool begins_tag() const {
    if (rest_.size() < 2 || rest_.front() != '<') return false;
    return is_letter(rest_[1]) || rest_[1] == '/' || rest_[1] == '!' || rest_[1] == '?';
  }

  void take(std::size_t bytes) {
    builder_.skip(rest_.substr(0, bytes));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  void skip_past(std::string_view end) {
    std::size_t at = rest_.find(end);
    take(at == rest_.npos ? rest_.size() : at + end.size());
  }

  void read_tag() {
    bool closes = rest_[1] == '/';
    std::size_t begin = closes ? 2 : 1;
    std::size_t end = begin;
    while (end < rest_.size() &&
           (is_letter(rest_[end]) || (rest_[end] >= '0' && rest_[end] <= '9')))
      ++end;
    std::string name = net::lower_case(rest_.substr(begin, end - begin));
    skip_past(">");
    if (std::find(block_tags.begin(), block_tags.end(), name) != block_tags.end()) {
      builder_.end_paragraph();
    } else if (name == "br" || name == "td" || name == "th") {
      builder_.add(' ');
    } else if (!closes && (name == "script" || name == "style")) {
      skip_element(name);
    }
  }

  // Skips to the end tag, whose name can be in either case.
  void skip_element(const std::string& name) {
    while (!rest_.empty()) {
      std::size_t at = rest_.find("</");
      if (at == rest_.npos) return take(rest_.size());
      take(at);
      if (net::lower_case(rest_.substr(2, name.size())) == name) return skip_past(">");
      take(2);
    }
  }

  void read_entity() {
    std::size_t end = rest_.substr(0, entity_bytes_max).find(';');
    if (end != rest_.npos) {
      if (auto text = entity_text(rest_.substr(1, end - 1))) {
        for (char c : *text) builder_.add(c == '\n' ? ' ' : c);
        return rest_.remove_prefix(end + 1);
      }
    }
    builder_.add('&');
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  Builder builder_;
};

}  // namespace

std::vector<Paragraph> paragraphs_of_text(std::string_view text) {
  Builder builder;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (std::all_of(line.begin(), line.end(), is_space)) builder.end_paragraph();
    builder.add(line);
    if (end == text.npos) break;
    builder.add('\n');
    text.remove_prefix(end + 1);
  }
  return builder.end();
}

std::vector<Paragraph> paragraphs_of_html(std::string_view html) { return HtmlReader(html).read(); }

}  // namespace belay::tools
