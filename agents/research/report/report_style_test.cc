#include "agents/research/report/report_style.h"

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

namespace belay::research {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

// Returns the custom properties of the first block after `start`.
Variables variables_after(std::string_view css, std::string_view start) {
  Variables variables;
  const std::size_t begin = css.find(":root {", css.find(start));
  std::string_view block = css.substr(begin, css.find('}', begin) - begin);
  for (std::size_t at = block.find("--"); at != std::string_view::npos; at = block.find("--")) {
    block.remove_prefix(at);
    const std::size_t colon = block.find(": ");
    variables[std::string(block.substr(0, colon))] = block.substr(colon + 2, 7);
    block.remove_prefix(colon);
  }
  return variables;
}

// The relative luminance of "#rrggbb" (WCAG 2).
double luminance(std::string_view colour) {
  double sum = 0;
  constexpr std::array<double, 3> kWeights = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    int channel = -1;
    std::from_chars(colour.data() + 1 + 2 * i, colour.data() + 3 + 2 * i, channel, 16);
    const double share = channel / 255.0;
    sum +=
        kWeights[i] * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const Variables& variables, std::string_view a, std::string_view b) {
  const double first = luminance(variables.at(std::string(a)));
  const double second = luminance(variables.at(std::string(b)));
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

constexpr std::string_view kDark = "@media screen and (prefers-color-scheme: dark)";

TEST(ReportStyle, HasRulesForBothThemesAndForPrint) {
  const std::string_view css = report::report_style();
  EXPECT_NE(css.find(kDark), std::string_view::npos);
  EXPECT_NE(css.find("@media print"), std::string_view::npos);
  EXPECT_NE(css.find("color-scheme: light dark"), std::string_view::npos);
  EXPECT_NE(css.find(":focus-visible"), std::string_view::npos);
}

TEST(ReportStyle, BothThemesDefineTheSameColours) {
  const Variables light = variables_after(report::report_style(), ":root");
  const Variables dark = variables_after(report::report_style(), kDark);
  EXPECT_EQ(light.size(), dark.size());
  for (const auto& [name, colour] : light) EXPECT_TRUE(dark.contains(name)) << name;
}

TEST(ReportStyle, LoadsNothing) {
  const std::string_view css = report::report_style();
  for (const std::string_view word : {"url(", "@import", "@font-face", "http", "</"}) {
    EXPECT_EQ(css.find(word), std::string_view::npos) << word;
  }
}

TEST(ReportStyle, TextHasTheContrastThatReadersNeed) {
  for (const std::string_view theme : {std::string_view(":root"), kDark}) {
    const Variables colours = variables_after(report::report_style(), theme);
    for (const auto* text : {"--text", "--muted", "--link", "--high", "--medium", "--low"}) {
      EXPECT_GE(contrast(colours, text, "--page"), 4.5) << theme << text;
      EXPECT_GE(contrast(colours, text, "--panel"), 4.5) << theme << text;
    }
    EXPECT_GE(contrast(colours, "--text", "--mark"), 4.5) << theme;
    for (const auto* level : {"--h0", "--h1", "--h2", "--h3", "--h4", "--h5", "--h6"}) {
      EXPECT_GE(contrast(colours, "--h-text", level), 4.5) << theme << level;
    }
    for (const auto* series : {"--s0", "--s1", "--s2", "--s3", "--s4", "--s5"}) {
      EXPECT_GE(contrast(colours, series, "--page"), 3) << theme << series;
    }
  }
}

}  // namespace
}  // namespace belay::research
