#include "langgraph/store_items.h"

#include <algorithm>

#include "langgraph/search.h"

namespace belay::langgraph {
namespace {

constexpr std::size_t kLabelsMax = 20;
constexpr std::size_t kPlaceBytesMax = 500;

Result<bool> fulfils(const Value& value, std::string_view condition, const Value& operand) {
  auto order = compare_values(value, operand);
  if (condition == "$eq") return equal_values(value, operand);
  if (condition == "$ne") return !equal_values(value, operand);
  if (condition == "$gt") return order == std::partial_ordering::greater;
  if (condition == "$gte") return order >= 0;
  if (condition == "$lt") return order == std::partial_ordering::less;
  if (condition == "$lte") return order <= 0;
  return error(ErrorCode::invalid,
               "Unknown condition \"" + std::string(condition.substr(0, 40)) + "\" in \"filter\".");
}

bool has_conditions(const Value& wanted) {
  const Value::Object* members = wanted.as_object();
  return members && !members->empty() && members->begin()->first.starts_with('$');
}

bool same_label(const std::string& label, const std::string& wanted) {
  return wanted == "*" || label == wanted;
}

}  // namespace

std::string StoreItemRecord::key() const {
  Value::Array names(labels.begin(), labels.end());
  names.push_back(item_key);
  return derived_uuid(to_json(Value(std::move(names)))).text();
}

std::string place_of(const std::vector<std::string>& labels) {
  std::string place;
  for (const std::string& label : labels) place += label + '.';
  return place;
}

Result<Done> check_labels(const std::vector<std::string>& labels) {
  for (const std::string& label : labels) {
    if (!label.empty() && label.find('.') == label.npos) continue;
    return error(ErrorCode::invalid,
                 "A label of a namespace must not be empty and must not contain a dot.");
  }
  if (labels.size() <= kLabelsMax && place_of(labels).size() <= kPlaceBytesMax) return Done{};
  return error(ErrorCode::invalid, "A namespace has at most " + std::to_string(kLabelsMax) +
                                       " labels and " + std::to_string(kPlaceBytesMax) + " bytes.");
}

Result<bool> matches_item_filter(const Value& value, const Value& filter) {
  bool fits = true;
  for (const auto& [name, wanted] : *filter.as_object()) {
    const Value& member = value[name];
    if (!has_conditions(wanted)) {
      fits = fits && equal_values(member, wanted);
      continue;
    }
    for (const auto& [condition, operand] : *wanted.as_object()) {
      BELAY_TRY(bool is_fulfilled, fulfils(member, condition, operand));
      fits = fits && is_fulfilled;
    }
  }
  return fits;
}

bool begins_with_labels(const std::vector<std::string>& labels,
                        const std::vector<std::string>& part) {
  return part.size() <= labels.size() && std::equal(part.begin(), part.end(), labels.begin(),
                                                    [](const auto& wanted, const auto& label) {
                                                      return same_label(label, wanted);
                                                    });
}

bool ends_with_labels(const std::vector<std::string>& labels,
                      const std::vector<std::string>& part) {
  return part.size() <= labels.size() && std::equal(part.rbegin(), part.rend(), labels.rbegin(),
                                                    [](const auto& wanted, const auto& label) {
                                                      return same_label(label, wanted);
                                                    });
}

Value item_document(const StoreItemRecord& item) {
  return Value::object({{"namespace", Value::Array(item.labels.begin(), item.labels.end())},
                        {"key", item.item_key},
                        {"value", item.value},
                        {"created_at", to_text(item.created_at)},
                        {"updated_at", to_text(item.updated_at)}});
}

}  // namespace belay::langgraph
