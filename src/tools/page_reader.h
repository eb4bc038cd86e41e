#pragma once
// tools/page_reader.h - PageReader: the layout of a page's elements, which it receives in their
// order; no tree is built.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/egress.h"
#include "tools/page_elements.h"
#include "tools/page_writer.h"

namespace belay::tools {

class PageReader {
 public:
  // `page`: the URL to which links are relative; nullopt omits them.
  PageReader(const std::optional<net::Target>& page, bool with_navigation)
      : base_(page), with_navigation_(with_navigation), writer_(text_bytes_max) {}

  void start(std::string_view name, const ElementAttributes& attributes);
  // Ends the innermost element.
  void end();
  void characters(std::string_view text);

  std::size_t depth() const { return open_.size(); }
  // The text has its maximum size; later text is ignored.
  bool is_full() const { return writer_.is_full(); }

  // Each returns the result at the end of the page, once.
  std::string title();
  std::string text() { return writer_.end(); }

 private:
  static constexpr std::size_t text_bytes_max = 8 * 1024 * 1024;

  struct OpenElement {
    ElementKind kind = ElementKind::inline_text;
    bool is_left_out = false;  // or inside of one that is
    bool is_content = false;   // the same
  };
  struct OpenRow {
    int cells = 0;
    bool is_layout = false;  // a cell contains blocks: the row is not one of data
  };

  bool leaves_out(ElementKind kind, const ElementAttributes& attributes) const;
  void open(ElementKind kind, const ElementAttributes& attributes);
  void close(ElementKind kind);
  void open_heading(ElementKind kind);
  void open_item();
  void open_cell();
  void open_link(std::string_view href);
  void set_base(std::string_view href);
  void use_layout();
  void set_inline();
  bool is_left_out() const { return !open_.empty() && open_.back().is_left_out; }

  std::optional<net::Target> base_;
  const bool with_navigation_;
  PageWriter writer_;
  std::string title_;
  std::vector<OpenElement> open_;
  std::vector<int> lists_;  // the number of the last item; -1: not numbered
  std::vector<OpenRow> rows_;
  std::size_t preformatted_ = 0;
  bool has_base_ = false;
  bool in_title_ = false;
};

}  // namespace belay::tools
