#pragma once
// tools/page_writer.h - PageWriter: the layout of a page's text: white space, paragraphs, links,
// rows and preformatted text.

#include <string>
#include <string_view>

namespace belay::tools {

enum class Break {
  line = 1,
  paragraph = 2,
};

// Writes marks only with the text that follows them: an element without text leaves no trace.
class PageWriter {
 public:
  explicit PageWriter(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Appends text in which white space is one space. Omits control characters and characters that
  // have no visible form. REQUIRES: UTF-8, here and below.
  void text(std::string_view text);
  // Appends text of a block of preformatted text.
  void preformatted(std::string_view text);
  void end_preformatted();

  // Separates the previous text from the next one. A space, between set_inline(true) and (false).
  void separate(Break least);
  void set_inline(bool is_inline) { is_inline_ = is_inline; }
  // A mark before the next text, such as "# ". Marks of several elements are joined.
  void add_mark(std::string_view mark) { marks_ += mark; }
  void drop_marks() { marks_.clear(); }
  // A separator of cells before the next text.
  void separate_cells() { ++separators_; }
  void drop_separators() { separators_ = 0; }
  // The text between them is that of a link. Links do not nest.
  void begin_link(std::string url);
  void end_link();

  bool is_full() const { return out_.size() >= bytes_max_; }
  // Returns the whole text.
  std::string end();

 private:
  void begin_text();
  void add_break();

  const std::size_t bytes_max_;
  std::string out_;
  std::string marks_;
  std::string link_;  // empty: no link
  int breaks_ = 0;    // line ends before the next text
  int separators_ = 0;
  bool needs_space_ = false;
  bool is_inline_ = false;
  bool has_link_text_ = false;
  bool is_preformatted_ = false;
};

}  // namespace belay::tools
