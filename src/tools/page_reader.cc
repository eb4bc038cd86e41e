#include "tools/page_reader.h"

#include <algorithm>

#include "tools/link_url.h"

namespace belay::tools {
namespace {

constexpr std::size_t title_bytes_max = 1'000;
constexpr std::size_t list_depth_max = 8;

}  // namespace

bool PageReader::leaves_out(ElementKind kind, const ElementAttributes& attributes) const {
  if (is_left_out() || kind == ElementKind::hidden || is_hidden(attributes)) return true;
  if (with_navigation_) return false;
  bool in_content = !open_.empty() && open_.back().is_content;
  return kind == ElementKind::navigation || (kind == ElementKind::margin && !in_content) ||
         (kind != ElementKind::content && kind != ElementKind::link &&
          is_navigation_role(attributes.role));
}

void PageReader::start(std::string_view name, const ElementAttributes& attributes) {
  OpenElement element;
  element.kind = element_kind(name);
  element.is_left_out = leaves_out(element.kind, attributes);
  element.is_content = element.kind == ElementKind::content || attributes.role == "main" ||
                       (!open_.empty() && open_.back().is_content);
  open_.push_back(element);
  if (!element.is_left_out) open(element.kind, attributes);
}

void PageReader::end() {
  if (open_.empty()) return;
  OpenElement element = open_.back();
  open_.pop_back();
  if (!element.is_left_out) close(element.kind);
}

void PageReader::characters(std::string_view text) {
  if (is_left_out()) return;
  if (in_title_) {
    if (title_.size() < title_bytes_max) title_ += text;
  } else if (preformatted_ > 0) {
    writer_.preformatted(text);
  } else {
    writer_.text(text);
  }
}

std::string PageReader::title() {
  PageWriter title(title_bytes_max);
  title.text(title_);
  return title.end();
}

void PageReader::open(ElementKind kind, const ElementAttributes& attributes) {
  switch (kind) {
    case ElementKind::inline_text:
    case ElementKind::hidden:
      return;
    case ElementKind::line_break:
      return preformatted_ > 0 ? writer_.preformatted("\n") : writer_.separate(Break::line);
    case ElementKind::line:
      return writer_.separate(Break::line);
    case ElementKind::block:
    case ElementKind::content:
    case ElementKind::navigation:
    case ElementKind::margin:
      return writer_.separate(Break::paragraph);
    case ElementKind::numbered_list:
    case ElementKind::list:
      use_layout();
      lists_.push_back(kind == ElementKind::list ? -1 : 0);
      return writer_.separate(lists_.size() > 1 ? Break::line : Break::paragraph);
    case ElementKind::item:
      return open_item();
    case ElementKind::table:
      use_layout();
      return writer_.separate(Break::paragraph);
    case ElementKind::row:
      writer_.separate(Break::line);
      return rows_.push_back(OpenRow());
    case ElementKind::cell:
      return open_cell();
    case ElementKind::preformatted:
      use_layout();
      ++preformatted_;
      return writer_.end_link();
    case ElementKind::link:
      return open_link(attributes.href);
    case ElementKind::image:
      return characters(attributes.alt);
    case ElementKind::base:
      return set_base(attributes.href);
    case ElementKind::title:
      in_title_ = true;
      title_ += ' ';
      return;
    default:
      return open_heading(kind);
  }
}

void PageReader::close(ElementKind kind) {
  switch (kind) {
    case ElementKind::inline_text:
    case ElementKind::hidden:
    case ElementKind::line_break:
    case ElementKind::image:
    case ElementKind::base:
      return;
    case ElementKind::line:
      return writer_.separate(Break::line);
    case ElementKind::numbered_list:
    case ElementKind::list:
      lists_.pop_back();
      return writer_.separate(lists_.empty() ? Break::paragraph : Break::line);
    case ElementKind::item:
      writer_.drop_marks();
      return writer_.separate(Break::line);
    case ElementKind::row:
      rows_.pop_back();
      writer_.drop_separators();
      set_inline();
      return writer_.separate(Break::line);
    case ElementKind::cell:
      writer_.set_inline(false);
      return;
    case ElementKind::preformatted:
      if (--preformatted_ == 0) writer_.end_preformatted();
      return;
    case ElementKind::link:
      return writer_.end_link();
    case ElementKind::title:
      in_title_ = false;
      return;
    case ElementKind::block:
    case ElementKind::content:
    case ElementKind::navigation:
    case ElementKind::margin:
    case ElementKind::table:
      return writer_.separate(Break::paragraph);
    default:
      writer_.drop_marks();
      return writer_.separate(Break::paragraph);
  }
}

void PageReader::open_heading(ElementKind kind) {
  use_layout();
  writer_.separate(Break::paragraph);
  auto level = static_cast<std::size_t>(kind) - static_cast<std::size_t>(ElementKind::heading_1);
  writer_.drop_marks();
  writer_.add_mark(std::string(level + 1, '#') + " ");
}

void PageReader::open_item() {
  writer_.separate(Break::line);
  std::size_t depth = std::min(std::max<std::size_t>(lists_.size(), 1), list_depth_max);
  writer_.drop_marks();
  writer_.add_mark(std::string(2 * (depth - 1), ' '));
  bool is_numbered = !lists_.empty() && lists_.back() >= 0;
  writer_.add_mark(is_numbered ? std::to_string(++lists_.back()) + ". " : "- ");
}

void PageReader::open_cell() {
  if (rows_.empty() || rows_.back().is_layout) return writer_.separate(Break::line);
  if (rows_.back().cells++ > 0) writer_.separate_cells();
  writer_.set_inline(true);
}

void PageReader::open_link(std::string_view href) {
  if (!base_ || preformatted_ > 0) return;
  auto target = link_target(*base_, href);
  writer_.begin_link(target ? target->url() : "");
}

void PageReader::set_base(std::string_view href) {
  if (!base_ || has_base_) return;
  has_base_ = true;
  if (auto target = link_target(*base_, href)) base_ = std::move(target);
}

// A table, a list, a heading or a preformatted text within a cell.
void PageReader::use_layout() {
  if (rows_.empty()) return;
  rows_.back().is_layout = true;
  writer_.set_inline(false);
}

// Within a row of an outer table, whose cell contained this one.
void PageReader::set_inline() { writer_.set_inline(!rows_.empty() && !rows_.back().is_layout); }

}  // namespace belay::tools
