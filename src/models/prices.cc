// Parses prices from a TOML table. The parser is header-only and configured not to throw; no other
// file of the library includes it.

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <cmath>

#include "belay/models.h"
#include "models/json_sanitizer.h"

namespace belay {
namespace {

// Units of money for 1,000,000 tokens; the cost of the largest call still fits 64 bits.
constexpr double price_max = 20'000;
constexpr double millionths = 1'000'000;

Error fault(const toml::source_region& where, const std::string& what) {
  return error(ErrorCode::invalid,
               "Price table, line " + std::to_string(where.begin.line) + ": " + what);
}

Result<std::int64_t> amount(const toml::table& entry, const std::string& name,
                            std::string_view which) {
  const toml::node* node = entry.get(which);
  std::optional<double> units;
  if (node) units = node->value<double>();
  if (node && !node->is_number()) units.reset();
  if (!units || !(*units >= 0) || *units > price_max) {
    return fault(node ? node->source() : entry.source(),
                 "\"" + name + "\" requires " + std::string(which) +
                     " = a number from 0 to 20000, in units of money for 1,000,000 tokens.");
  }
  return std::llround(*units * millionths);
}

}  // namespace

Result<ModelPrices> ModelPrices::parse(std::string_view toml_text) {
  toml::parse_result parsed = toml::parse(toml_text);
  if (!parsed) {
    return fault(parsed.error().source(),
                 models::quotable(parsed.error().description(), 200) + ".");
  }
  ModelPrices prices;
  for (const auto& [key, node] : parsed.table()) {
    std::string name = models::quotable(key.str(), 100);
    const toml::table* entry = node.as_table();
    if (!entry) {
      return fault(node.source(), "\"" + name + "\" is not a valid price. Write it as \"" + name +
                                      "\" = {input = 1.25, output = 10.0}.");
    }
    ModelPrice price;
    BELAY_TRY(price.input, amount(*entry, name, "input"));
    BELAY_TRY(price.output, amount(*entry, name, "output"));
    for (const auto& [member, value] : *entry) {
      if (member == "input" || member == "output") continue;
      return fault(value.source(), "\"" + name + "\" accepts input and output, not \"" +
                                       models::quotable(member.str(), 60) + "\".");
    }
    prices.set(std::string(key.str()), price);
  }
  return prices;
}

std::optional<ModelPrice> ModelPrices::find(std::string_view provider,
                                            std::string_view model) const {
  std::string full = std::string(provider) + ":" + std::string(model);
  std::optional<ModelPrice> found;
  std::size_t longest = 0;
  for (const auto& [name, price] : prices_) {
    bool has_provider = full.starts_with(name);
    if (!has_provider && !model.starts_with(name)) continue;
    // Of two matching entries, the one that also names the provider counts as the longer one.
    std::size_t length = has_provider ? name.size() : provider.size() + 1 + name.size();
    if (name.empty() || length < longest) continue;
    longest = length;
    found = price;
  }
  return found;
}

}  // namespace belay
