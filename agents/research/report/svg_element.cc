#include "agents/research/report/svg_element.h"

#include <array>
#include <cstddef>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/svg_scale.h"

namespace belay::research::report {
namespace {

constexpr std::size_t kSvgTextLimit = 4'000;

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + coordinate(value) + "\"";
}

}  // namespace

std::string svg_open(std::string_view id, std::string_view title, std::string_view description,
                     int width, int height) {
  const std::string name(id);
  return "<svg id=\"" + name + "\" viewBox=\"0 0 " + std::to_string(width) + " " +
         std::to_string(height) + "\" role=\"group\" aria-roledescription=\"chart\" " +
         "aria-labelledby=\"" + name + "-title\" aria-describedby=\"" + name + "-text\">\n" +
         "<title id=\"" + name + "-title\">" + html_text(title, kSvgTextLimit) + "</title>\n" +
         "<desc id=\"" + name + "-text\">" + html_text(description, kSvgTextLimit) + "</desc>\n";
}

std::string svg_line(std::string_view css_class, double x1, double y1, double x2, double y2) {
  return "<line class=\"" + std::string(css_class) + "\"" + attribute("x1", x1) +
         attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) + "/>\n";
}

std::string svg_rectangle(std::string_view css_class, double x, double y, double width,
                          double height) {
  return "<rect class=\"" + std::string(css_class) + "\"" + attribute("x", x) + attribute("y", y) +
         attribute("width", width) + attribute("height", height) + "/>";
}

std::string svg_text(std::string_view css_class, double x, double y, std::string_view anchor,
                     std::string_view text) {
  return "<text class=\"" + std::string(css_class) + "\"" + attribute("x", x) + attribute("y", y) +
         " text-anchor=\"" + std::string(anchor) + "\">" + html_text(text, kSvgTextLimit) +
         "</text>\n";
}

std::string svg_link(std::string_view anchor, std::string_view tooltip, std::string_view shape) {
  return "<a href=\"#" + std::string(anchor) + "\" tabindex=\"-1\"><title>" +
         html_text(tooltip, kSvgTextLimit) + "</title>" + std::string(shape) + "</a>\n";
}

std::string svg_mark(std::size_t series, double x, double y) {
  // Around the origin: a circle-like octagon, a square, a diamond, triangles, and a cross.
  static constexpr std::array<std::string_view, 6> kShapes = {
      "m-1.7-4h3.4l2.3 2.3v3.4l-2.3 2.3h-3.4l-2.3-2.3v-3.4z",
      "m-3.7-3.7h7.4v7.4h-7.4z",
      "m0-5 5 5-5 5-5-5z",
      "m0-5 5 9h-10z",
      "m-5-4h10l-5 9z",
      "m-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
  };
  const std::size_t shape = series % kShapes.size();
  return "<path class=\"mark s" + std::to_string(shape) + "\" d=\"M" + coordinate(x) + " " +
         coordinate(y) + std::string(kShapes[shape]) + "\"/>";
}

}  // namespace belay::research::report
