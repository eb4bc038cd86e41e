#include "langgraph/search.h"

#include <algorithm>

namespace belay::langgraph {
namespace {

constexpr std::int64_t kOffsetMax = 1'000'000;

}  // namespace

std::partial_ordering compare_values(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    auto one = a.as_int(), other = b.as_int();
    if (one && other) return *one <=> *other;
    return *a.as_double() <=> *b.as_double();
  }
  if (a.as_string() && b.as_string()) return *a.as_string() <=> *b.as_string();
  if (a.as_bool() && b.as_bool()) return *a.as_bool() <=> *b.as_bool();
  return std::partial_ordering::unordered;
}

bool equal_values(const Value& a, const Value& b) {
  const Value::Array* list = a.as_array();
  const Value::Array* other_list = b.as_array();
  if (list && other_list) {
    return std::equal(list->begin(), list->end(), other_list->begin(), other_list->end(),
                      equal_values);
  }
  const Value::Object* members = a.as_object();
  const Value::Object* other_members = b.as_object();
  if (members && other_members) {
    // Objects sort their members by name.
    return std::equal(members->begin(), members->end(), other_members->begin(),
                      other_members->end(), [](const auto& one, const auto& other) {
                        return one.first == other.first && equal_values(one.second, other.second);
                      });
  }
  bool is_equal_scalar = compare_values(a, b) == std::partial_ordering::equivalent;
  return is_equal_scalar || (a.is_null() && b.is_null());
}

bool contains_value(const Value& value, const Value& wanted) {
  const Value::Object* members = value.as_object();
  const Value::Object* wanted_members = wanted.as_object();
  if (members && wanted_members) {
    for (const auto& [name, member] : *wanted_members) {
      auto found = members->find(name);
      if (found == members->end() || !contains_value(found->second, member)) return false;
    }
    return true;
  }
  const Value::Array* elements = value.as_array();
  if (const Value::Array* all = wanted.as_array(); all && elements) {
    for (const Value& each : *all) {
      auto fits = [&each](const Value& element) { return contains_value(element, each); };
      if (std::none_of(elements->begin(), elements->end(), fits)) return false;
    }
    return true;
  }
  bool is_equal_scalar = compare_values(value, wanted) == std::partial_ordering::equivalent;
  return is_equal_scalar || (value.is_null() && wanted.is_null());
}

Result<SearchPage> search_page_in(const Value& body, std::initializer_list<std::string_view> sorts,
                                  std::int64_t limit_default) {
  SearchPage page;
  BELAY_TRY(std::int64_t limit, int_member(body, "limit", limit_default, 1, server::kListMax));
  BELAY_TRY(std::int64_t offset, int_member(body, "offset", 0, 0, kOffsetMax));
  page.limit = static_cast<std::size_t>(limit);
  page.offset = static_cast<std::size_t>(offset);
  BELAY_TRY(auto sort_by, text_member(body, "sort_by"));
  page.sort_by = sort_by.value_or(std::string(sorts.size() ? *sorts.begin() : ""));
  bool is_known =
      sorts.size() == 0 || std::find(sorts.begin(), sorts.end(), page.sort_by) != sorts.end();
  if (!is_known) {
    return error(ErrorCode::invalid,
                 "Unknown \"sort_by\": \"" + page.sort_by.substr(0, 40) + "\".");
  }
  BELAY_TRY(auto order, text_member(body, "sort_order"));
  page.is_descending = order.value_or("desc") == "desc";
  if (order && *order != "asc" && *order != "desc") {
    return error(ErrorCode::invalid, "\"sort_order\" must be asc or desc.");
  }
  BELAY_TRY(auto select, texts_member(body, "select"));
  if (select) page.select = *std::move(select);
  return page;
}

Value search_properties(Value::Object more) {
  Value number = Value::object({{"type", "integer"}});
  Value text = Value::object({{"type", "string"}});
  more.insert_or_assign("limit", number);
  more.insert_or_assign("offset", std::move(number));
  more.insert_or_assign("sort_by", text);
  more.insert_or_assign("sort_order", std::move(text));
  more.insert_or_assign("select", Value::object({{"type", "array"}}));
  return Value(std::move(more));
}

PageSlice slice_of(const SearchPage& page, std::size_t total) {
  std::size_t begin = std::min(page.offset, total);
  return {begin, begin + std::min(page.limit, total - begin)};
}

server::Reply page_reply(const SearchPage& page, std::size_t total, Value::Array documents) {
  server::Reply reply = server::reply_with(std::move(documents));
  reply.headers.push_back({"X-Pagination-Total", std::to_string(total)});
  std::size_t end = slice_of(page, total).end;
  if (end < total) reply.headers.push_back({"X-Pagination-Next", std::to_string(end)});
  return reply;
}

Value selected(const SearchPage& page, Value document) {
  if (page.select.empty() || !document.as_object()) return document;
  Value::Object kept;
  for (const std::string& name : page.select) {
    if (const Value* member = document.find(name)) kept.insert_or_assign(name, *member);
  }
  return Value(std::move(kept));
}

}  // namespace belay::langgraph
