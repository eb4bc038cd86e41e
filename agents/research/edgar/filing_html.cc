#include "agents/research/edgar/filing_html.h"

#include <libxml/HTMLparser.h>
#include <libxml/dict.h>
#include <libxml/parserInternals.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "agents/research/edgar/filing_lines.h"
#include "belay/value.h"

namespace belay::research {
namespace {

// libxml2 compares each attribute of a tag with those before it, and some tags with all open
// elements, which is quadratic. The limit is in comparisons, some 10 ns each.
constexpr std::size_t kWorkMax = 200'000'000;
constexpr std::size_t kFaultWork = 150;  // creates a text
// Of the distinct names of a document. The parser ignores attributes and tags with a further name,
// which bounds the attributes of a tag:
constexpr std::size_t kNameBytesMax = 20'000;
constexpr std::size_t kAttributesMax = 7'000;
constexpr std::size_t kDepthMax = 100'000;

enum class ElementRole : std::uint8_t {
  inline_text,  // and all unknown elements, such as those of inline XBRL
  block,
  line_break,
  table,
  row,
  cell,
  preformatted,
  left_out,   // with its contents
  invisible,  // within an element that is left out
};

struct NamedRole {
  std::string_view name;
  ElementRole role;
};

constexpr NamedRole kRoles[] = {
    {"address", ElementRole::block},
    {"article", ElementRole::block},
    {"blockquote", ElementRole::block},
    {"body", ElementRole::block},
    {"br", ElementRole::line_break},
    {"caption", ElementRole::block},
    {"center", ElementRole::block},
    {"dd", ElementRole::block},
    {"dir", ElementRole::block},
    {"div", ElementRole::block},
    {"dl", ElementRole::block},
    {"dt", ElementRole::block},
    {"fieldset", ElementRole::block},
    {"footer", ElementRole::block},
    {"form", ElementRole::block},
    {"h1", ElementRole::block},
    {"h2", ElementRole::block},
    {"h3", ElementRole::block},
    {"h4", ElementRole::block},
    {"h5", ElementRole::block},
    {"h6", ElementRole::block},
    {"head", ElementRole::left_out},
    {"header", ElementRole::block},
    {"hr", ElementRole::block},
    {"ix:header", ElementRole::left_out},
    {"ix:hidden", ElementRole::left_out},
    {"li", ElementRole::block},
    {"main", ElementRole::block},
    {"menu", ElementRole::block},
    {"ol", ElementRole::block},
    {"p", ElementRole::block},
    {"pre", ElementRole::preformatted},
    {"script", ElementRole::left_out},
    {"section", ElementRole::block},
    {"style", ElementRole::left_out},
    {"table", ElementRole::table},
    {"td", ElementRole::cell},
    {"template", ElementRole::left_out},
    {"th", ElementRole::cell},
    {"title", ElementRole::left_out},
    {"tr", ElementRole::row},
    {"ul", ElementRole::block},
};

ElementRole role_of(std::string_view name) {
  auto found = std::lower_bound(
      std::begin(kRoles), std::end(kRoles), name,
      [](const NamedRole& each, std::string_view wanted) { return each.name < wanted; });
  bool is_known = found != std::end(kRoles) && found->name == name;
  return is_known ? found->role : ElementRole::inline_text;
}

std::string_view view_of(const xmlChar* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

// Returns whether a style hides its element: "display: none", or "visibility: hidden".
bool hides(std::string_view style) {
  std::string plain;
  for (char c : style) {
    if (c != ' ' && (c < '\t' || c > '\r')) plain += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  }
  return plain.find("display:none") != plain.npos || plain.find("visibility:hidden") != plain.npos;
}

// One run of the parser, which it stops when the document costs too much.
class FilingParser {
 public:
  // Returns false if the document was not read to its end.
  bool parse(const std::string& html);
  std::string text() { return lines_.finish(); }

  // For the parser.
  void start(const xmlChar* name, const xmlChar** pairs);
  void end();
  void characters(std::string_view text);
  void fault(int code);

 private:
  std::size_t offset() const;
  std::size_t attributes_since_mark() const;
  void end_misplaced_tag();
  void stop_if_spent();
  void open(ElementRole role);
  void close(ElementRole role);

  FilingLines lines_;
  std::vector<ElementRole> open_;
  htmlParserCtxtPtr parser_ = nullptr;
  std::size_t work_ = 0;
  std::size_t mark_ = 0;            // the offset in the document at the previous tag
  bool has_misplaced_tag_ = false;  // the parser reads a tag that it will not report
  bool has_frameset_ = false;
  bool in_raw_text_ = false;
  bool is_stopped_ = false;
};

std::size_t FilingParser::offset() const {
  const xmlParserInput* input = parser_->input;
  return input->consumed + static_cast<std::size_t>(input->cur - input->base);
}

// Returns the maximum number of attributes in the part of the document since the mark.
std::size_t FilingParser::attributes_since_mark() const {
  std::size_t at = offset();
  return at > mark_ ? std::min((at - mark_) / 2, kAttributesMax) : 0;
}

void FilingParser::end_misplaced_tag() {
  std::size_t attributes = attributes_since_mark();
  if (has_misplaced_tag_) work_ += attributes * attributes / 2;
  has_misplaced_tag_ = false;
  mark_ = offset();
}

// Must be called only where the parser continues with the next character of its input, which is
// then its end, and keeps no pointer into the input.
void FilingParser::stop_if_spent() {
  if (work_ <= kWorkMax && open_.size() <= kDepthMax) return;
  is_stopped_ = true;
  xmlStopParser(parser_);
}

void FilingParser::start(const xmlChar* name, const xmlChar** pairs) {
  if (is_stopped_) return;
  std::string_view element = view_of(name);
  ElementRole role = role_of(element);
  std::size_t attributes = 0;
  for (; pairs && pairs[0]; pairs += 2) {
    ++attributes;
    std::string_view attribute = view_of(pairs[0]);
    bool is_hidden = attribute == "hidden" || (attribute == "style" && hides(view_of(pairs[1])));
    if (is_hidden) role = ElementRole::left_out;
  }
  bool is_outside = open_.empty() || (open_.back() != ElementRole::left_out &&
                                      open_.back() != ElementRole::invisible);
  if (!is_outside) role = ElementRole::invisible;
  open_.push_back(role);
  open(role);
  in_raw_text_ = element == "script" || element == "style";
  has_frameset_ = has_frameset_ || element == "frameset";
  end_misplaced_tag();
  work_ += 1 + attributes * attributes / 2;
  // Without a body near the root, the parser searches all open elements for it.
  if (has_frameset_) work_ += open_.size();
  stop_if_spent();
}

void FilingParser::end() {
  if (is_stopped_ || open_.empty()) return;
  ElementRole role = open_.back();
  open_.pop_back();
  close(role);
  in_raw_text_ = false;
}

void FilingParser::characters(std::string_view text) {
  bool is_left_out = !open_.empty() && (open_.back() == ElementRole::left_out ||
                                        open_.back() == ElementRole::invisible);
  if (!is_stopped_ && !is_left_out) lines_.text(text);
}

void FilingParser::open(ElementRole role) {
  if (role == ElementRole::block || role == ElementRole::line_break) lines_.end_line();
  if (role == ElementRole::table) lines_.begin_table();
  if (role == ElementRole::row) lines_.begin_row();
  if (role == ElementRole::cell) lines_.begin_cell();
  if (role == ElementRole::preformatted) lines_.begin_preformatted();
}

void FilingParser::close(ElementRole role) {
  if (role == ElementRole::block) lines_.end_line();
  if (role == ElementRole::table) lines_.end_table();
  if (role == ElementRole::row) lines_.end_row();
  if (role == ElementRole::cell) lines_.end_cell();
  if (role == ElementRole::preformatted) lines_.end_preformatted();
}

// A fault of the document.
void FilingParser::fault(int code) {
  if (is_stopped_) return;
  work_ += kFaultWork + open_.size();
  if (code == XML_ERR_ATTRIBUTE_REDEFINED) {
    work_ += attributes_since_mark();
  } else {
    end_misplaced_tag();
  }
  has_misplaced_tag_ = has_misplaced_tag_ || code == XML_HTML_STRUCURE_ERROR;
  bool is_end_tag = code == XML_ERR_TAG_NAME_MISMATCH && !in_raw_text_;
  bool can_stop =
      is_end_tag || code == XML_HTML_STRUCURE_ERROR || code == XML_ERR_ATTRIBUTE_REDEFINED;
  if (can_stop) stop_if_spent();
}

htmlSAXHandler filing_callbacks() {
  htmlSAXHandler callbacks{};
  callbacks.initialized = XML_SAX2_MAGIC;  // otherwise `serror` is not called
  callbacks.startElement = [](void* parser, const xmlChar* name, const xmlChar** pairs) {
    static_cast<FilingParser*>(parser)->start(name, pairs);
  };
  callbacks.endElement = [](void* parser, const xmlChar*) {
    static_cast<FilingParser*>(parser)->end();
  };
  callbacks.characters = [](void* parser, const xmlChar* text, int size) {
    static_cast<FilingParser*>(parser)->characters(
        {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
  };
  callbacks.serror = [](void* parser, xmlErrorPtr fault) {
    static_cast<FilingParser*>(parser)->fault(fault->code);
  };
  return callbacks;
}

bool FilingParser::parse(const std::string& html) {
  struct Free {
    void operator()(htmlParserCtxtPtr parser) const { htmlFreeParserCtxt(parser); }
  };
  std::unique_ptr<htmlParserCtxt, Free> parser(htmlNewParserCtxt());
  if (!parser || html.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return false;
  }
  parser_ = parser.get();
  *parser_->sax = filing_callbacks();
  parser_->userData = this;
  for (const NamedRole& each : kRoles) {
    xmlDictLookup(parser_->dict, reinterpret_cast<const xmlChar*>(each.name.data()),
                  static_cast<int>(each.name.size()));
  }
  xmlDictSetLimit(parser_->dict, kNameBytesMax);
  // The parser reads nothing else: neither the network nor a file.
  constexpr int kOptions = HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC;
  htmlCtxtReadMemory(parser_, html.data(), static_cast<int>(html.size()), nullptr, "UTF-8",
                     kOptions);
  return !is_stopped_;
}

// Returns UTF-8 without NUL.
std::string utf8_of(std::string_view bytes) {
  std::string text;
  if (!first_invalid_utf8(bytes)) {
    text = bytes;
  } else {
    text.reserve(bytes.size() + bytes.size() / 8);
    for (char c : bytes) {
      auto byte = static_cast<unsigned char>(c);
      // FilingLines reads U+0080 to U+009F as Windows-1252.
      if (byte >= 0x80) text += static_cast<char>(0xc0 | byte >> 6);
      text += byte >= 0x80 ? static_cast<char>(0x80 | (byte & 0x3f)) : c;
    }
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

FilingText text_of_html(std::string_view html) {
  FilingParser parser;
  FilingText result;
  result.is_whole = html.empty() || parser.parse(utf8_of(html));
  result.text = parser.text();
  return result;
}

FilingText text_of_plain(std::string_view document) {
  FilingLines lines;
  lines.begin_preformatted();
  lines.text(utf8_of(document));
  lines.end_preformatted();
  return FilingText{lines.finish(), true};
}

}  // namespace belay::research
