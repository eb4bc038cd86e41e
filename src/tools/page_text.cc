#include "tools/page_text.h"

#include <libxml/HTMLparser.h>
#include <libxml/dict.h>
#include <libxml/parserInternals.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "tools/page_reader.h"

namespace belay::tools {
namespace {

// libxml2 compares each attribute of a tag with those before it, and some tags with all open
// elements, which is quadratic. The limit is in comparisons, some 10 ns each.
constexpr std::size_t work_max = 50'000'000;
constexpr std::size_t fault_work = 150;  // creates a text
// Of the distinct names of a page. The parser ignores attributes and tags with a further name, so
// that a tag has at most this number of attributes:
constexpr std::size_t name_bytes_max = 20'000;
constexpr std::size_t attributes_max = 7'000;

std::string_view view_of(const xmlChar* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

ElementAttributes attributes_of(const xmlChar** pairs) {
  ElementAttributes found;
  for (; pairs && pairs[0]; pairs += 2) {
    ++found.count;
    std::string_view name = view_of(pairs[0]);
    std::string_view value = view_of(pairs[1]);
    if (name == "hidden") found.has_hidden = true;
    if (name == "aria-hidden") found.aria_hidden = value;
    if (name == "role") found.role = value;
    if (name == "style") found.style = value;
    if (name == "href") found.href = value;
    if (name == "alt") found.alt = value;
  }
  return found;
}

// One run of the parser, which it stops when the page costs too much.
class PageParser {
 public:
  explicit PageParser(PageReader& reader) : reader_(reader) {}

  // Returns false if the page was not read to its end.
  bool parse(const std::string& html);

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

  PageReader& reader_;
  htmlParserCtxtPtr parser_ = nullptr;
  std::size_t work_ = 0;
  std::size_t mark_ = 0;            // the offset in the page at the previous tag
  bool has_misplaced_tag_ = false;  // the parser reads a tag that it will not report
  bool has_frameset_ = false;
  bool in_raw_text_ = false;
  bool is_stopped_ = false;
};

std::size_t PageParser::offset() const {
  const xmlParserInput* input = parser_->input;
  return input->consumed + static_cast<std::size_t>(input->cur - input->base);
}

// Returns the maximum number of attributes in the part of the page that was read since the mark.
std::size_t PageParser::attributes_since_mark() const {
  std::size_t at = offset();
  return at > mark_ ? std::min((at - mark_) / 2, attributes_max) : 0;
}

void PageParser::end_misplaced_tag() {
  std::size_t attributes = attributes_since_mark();
  if (has_misplaced_tag_) work_ += attributes * attributes / 2;
  has_misplaced_tag_ = false;
  mark_ = offset();
}

// Must be called only where the parser continues with the next character of its input, which is
// then its end, and keeps no pointer into the input.
void PageParser::stop_if_spent() {
  if (work_ <= work_max && !reader_.is_full()) return;
  is_stopped_ = true;
  xmlStopParser(parser_);
}

void PageParser::start(const xmlChar* name, const xmlChar** pairs) {
  if (is_stopped_) return;
  std::string_view element = view_of(name);
  ElementAttributes attributes = attributes_of(pairs);
  reader_.start(element, attributes);
  in_raw_text_ = element == "script" || element == "style";
  has_frameset_ = has_frameset_ || element == "frameset";
  end_misplaced_tag();
  work_ += 1 + attributes.count * attributes.count / 2;
  // Without a body near the root, the parser searches all open elements for it.
  if (has_frameset_) work_ += reader_.depth();
  stop_if_spent();
}

void PageParser::end() {
  if (is_stopped_) return;
  reader_.end();
  in_raw_text_ = false;
}

void PageParser::characters(std::string_view text) {
  if (!is_stopped_) reader_.characters(text);
}

// A fault of the page.
void PageParser::fault(int code) {
  if (is_stopped_) return;
  work_ += fault_work + reader_.depth();
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

htmlSAXHandler page_callbacks() {
  htmlSAXHandler callbacks{};
  callbacks.initialized = XML_SAX2_MAGIC;  // otherwise `serror` is not called
  callbacks.startElement = [](void* parser, const xmlChar* name, const xmlChar** pairs) {
    static_cast<PageParser*>(parser)->start(name, pairs);
  };
  callbacks.endElement = [](void* parser, const xmlChar*) {
    static_cast<PageParser*>(parser)->end();
  };
  callbacks.characters = [](void* parser, const xmlChar* text, int size) {
    static_cast<PageParser*>(parser)->characters(
        {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
  };
  callbacks.serror = [](void* parser, xmlErrorPtr fault) {
    static_cast<PageParser*>(parser)->fault(fault->code);
  };
  return callbacks;
}

bool PageParser::parse(const std::string& html) {
  struct Free {
    void operator()(htmlParserCtxtPtr parser) const { htmlFreeParserCtxt(parser); }
  };
  std::unique_ptr<htmlParserCtxt, Free> parser(htmlNewParserCtxt());
  if (!parser || html.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return false;
  }
  parser_ = parser.get();
  *parser_->sax = page_callbacks();
  parser_->userData = this;
  auto intern = [](void* names, std::string_view name) {
    xmlDictLookup(static_cast<xmlDictPtr>(names), reinterpret_cast<const xmlChar*>(name.data()),
                  static_cast<int>(name.size()));
  };
  for_each_element(intern, parser_->dict);
  xmlDictSetLimit(parser_->dict, name_bytes_max);
  // The parser reads nothing else: neither the network nor a file.
  constexpr int options = HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC;
  htmlCtxtReadMemory(parser_, html.data(), static_cast<int>(html.size()), nullptr, "UTF-8",
                     options);
  return !is_stopped_;
}

PageText read_page(const std::string& html, const std::optional<net::Target>& page,
                   bool with_navigation) {
  PageReader reader(page, with_navigation);
  PageText result;
  result.is_whole = PageParser(reader).parse(html);
  result.title = reader.title();
  result.text = reader.text();
  return result;
}

}  // namespace

PageText page_text(const std::string& html, const std::optional<net::Target>& page) {
  PageText text = read_page(html, page, false);
  if (!text.text.empty() || !text.is_whole) return text;
  return read_page(html, page, true);
}

std::string line_of_html(const std::string& html) {
  std::string markdown = read_page(html, std::nullopt, true).text;
  PageWriter line(markdown.size() + 1);
  line.text(markdown);
  return line.end();
}

}  // namespace belay::tools
