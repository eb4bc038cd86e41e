#pragma once
// langgraph/search.h - the searches of the protocol: filters, the order and the page of a list.
//
// Threading: pure.

#include <compare>

#include "langgraph/errors.h"

namespace belay::langgraph {

// The order of two values: numbers by value (75 equals 75.0), texts by code point, booleans;
// `unordered` for other kinds, and for values of different kinds.
std::partial_ordering compare_values(const Value& a, const Value& b);
// True for the same structure with equal values: also the same elements of lists in the same order.
bool equal_values(const Value& a, const Value& b);
// True if `value` contains `wanted`, as PostgreSQL's @> does: each member of an object, each
// element of an array, or an equal value.
bool contains_value(const Value& value, const Value& wanted);

struct SearchPage {
  std::size_t limit = 10;
  std::size_t offset = 0;
  std::string sort_by;
  bool is_descending = true;
  std::vector<std::string> select;  // members of the documents; empty: all
};

// Reads limit, offset, sort_by, sort_order and select. `sorts`: the names that sort_by can have;
// the first is the default.
Result<SearchPage> search_page_in(const Value& body, std::initializer_list<std::string_view> sorts,
                                  std::int64_t limit_default = 10);
// The schemas of these members, for the description of a route.
Value search_properties(Value::Object more);

// The items of the page: [begin, end) of `total` items.
struct PageSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
};
PageSlice slice_of(const SearchPage& page, std::size_t total);

// A page of a list of `total` items, with its headers X-Pagination-Total and, if more items follow,
// X-Pagination-Next.
server::Reply page_reply(const SearchPage& page, std::size_t total, Value::Array documents);

// Returns the document with only the selected members.
Value selected(const SearchPage& page, Value document);

}  // namespace belay::langgraph
