#pragma once
// agents/research/report/svg_element.h - the elements from which charts are made.

#include <string>
#include <string_view>

namespace belay::research::report {

// Text arguments are escaped; classes and anchors are names made by the report.
std::string svg_open(std::string_view id, std::string_view title, std::string_view description,
                     int width, int height);
std::string svg_line(std::string_view css_class, double x1, double y1, double x2, double y2);
std::string svg_rectangle(std::string_view css_class, double x, double y, double width,
                          double height);
// `anchor` of the text: "start", "middle" or "end".
std::string svg_text(std::string_view css_class, double x, double y, std::string_view anchor,
                     std::string_view text);
// Wraps a shape in a link to an anchor of the document, with a tooltip.
std::string svg_link(std::string_view anchor, std::string_view tooltip, std::string_view shape);
// A mark at a point; series differ in shape as well as in colour.
std::string svg_mark(std::size_t series, double x, double y);

}  // namespace belay::research::report
