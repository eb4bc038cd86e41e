#pragma once
// tools/robots_rules.h - RobotsRules: the rules of a robots.txt for one crawler (RFC 9309).
//
// Threading: constant after creation; any thread.

#include <string>
#include <string_view>
#include <vector>

namespace belay::tools {

// The rest of a longer file is ignored.
inline constexpr std::size_t robots_bytes_max = 500 * 1024;

class RobotsRules {
 public:
  // Permits everything.
  RobotsRules() = default;
  // Reads the groups of `product`, a product token such as "Belay"; without one, those of
  // "*". Never fails: lines that are not rules are ignored.
  static RobotsRules from(std::string_view text, std::string_view product);

  // `path` begins with "/" and can have a query. The longest rule that matches decides; of two with
  // the same length, the one that permits.
  bool permits(std::string_view path) const;

 private:
  struct Rule {
    bool permits = true;
    bool is_anchored = false;  // must match up to the end of the path
    std::string pattern{};     // normalized; "*" is any text
  };
  static Rule rule_of(std::string_view pattern, bool permits);
  static bool matches(const Rule& rule, std::string_view path);

  std::vector<Rule> rules_;
};

// Returns the product token at the beginning of a user agent or of a line: letters, "_" and "-".
std::string_view product_token(std::string_view user_agent);

}  // namespace belay::tools
