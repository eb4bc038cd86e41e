#pragma once
// belay/collection.h - collections: records (record.h) that are read by ranges of ordered indexes.
//
//     struct Schedule {
//       static constexpr std::string_view collection = "schedules";
//       static constexpr bool is_of_tenant = true;
//       std::string id;
//       bool paused = false;
//       Instant next{};
//       std::string key() const { return id; }
//       static auto indexed() { return std::tuple(); }
//       static auto ordered() {
//         return std::tuple{ordered_index("due", &Schedule::paused, &Schedule::next)};
//       }
//     };
//
//     auto due = co_await read_page<Schedule>(records, RecordSpan("due").until(false, now));
//
// Reads cost time in proportion to the records that they return. Values of ordered indexes stay
// readable with encryption. A save can expect the version that was read: Context::save(), or
// RecordWrite::expected_version.
//
// After a change of the declared indexes, records that were saved before are not found by the new
// ones: open_collection() detects that, reindex_collection() saves them again.

#include <algorithm>

#include "belay/detail/sort_value.h"
#include "belay/record.h"
#include "belay/store.h"

namespace belay {

// An index that orders the records of a collection by one or more members: booleans, numbers,
// instants, strings, and optional ones.
template <typename R, typename... M>
struct OrderedIndex {
  std::string_view name;
  std::tuple<M R::*...> members;

  std::string value_of(const R& record) const {
    return std::apply([&](auto... each) { return detail::sort_value(record.*each...); }, members);
  }
};
template <typename R, typename... M>
constexpr OrderedIndex<R, M...> ordered_index(std::string_view name, M R::*... members) {
  return {name, {members...}};
}

// Part of an ordered index. Values are those of the index's first members.
//
//     RecordSpan("recent").from("sad", "2026-01-01").until("sad", "2026-02-01").last_first()
class RecordSpan {
 public:
  explicit RecordSpan(std::string_view index) : index_("order:" + std::string(index)) {}

  // Only values from these on.
  template <typename... Values>
  RecordSpan& from(const Values&... values) {
    return range_.from = detail::sort_value(values...), *this;
  }
  // Only values before these.
  template <typename... Values>
  RecordSpan& until(const Values&... values) {
    return range_.until = detail::sort_value(values...), *this;
  }
  // Only records whose first members have these values.
  template <typename... Values>
  RecordSpan& equal_to(const Values&... values) {
    range_.from = detail::sort_value(values...);
    range_.until = detail::after_prefix(range_.from);
    return *this;
  }
  // Only records whose first member, a string, begins with this.
  RecordSpan& begins_with(std::string_view text) {
    range_.from.clear();
    detail::add_sort_prefix(range_.from, text);
    range_.until = detail::after_prefix(range_.from);
    return *this;
  }
  RecordSpan& last_first() { return range_.is_descending = true, *this; }
  RecordSpan& limit(std::size_t limit) { return limit_ = limit, *this; }
  // Continues after a page: see RecordPage::next.
  RecordSpan& after(const std::string& next) {
    std::size_t space = std::min(next.find(' '), next.size());
    range_.after = next.substr(0, space);
    if (space < next.size()) after_ = next.substr(space + 1);
    return *this;
  }

  RecordFilter filter() const {
    return RecordFilter{{}, {}, {}, index_, {}, after_, limit_, range_, false};
  }

 private:
  std::string index_;
  RecordRange range_;
  std::string after_;
  std::size_t limit_ = 1000;
};

template <typename R>
struct RecordPage {
  std::vector<Versioned<R>> records;
  std::string next;  // for RecordSpan::after(); empty if there are no more records
};

// Returns a page of the records of the span, in the order of its index.
template <Record R>
Task<Result<RecordPage<R>>> read_page(Records& records, RecordSpan span) {
  RecordFilter filter = span.filter();
  filter.collection = R::collection;
  filter.is_of_tenant = is_of_tenant<R>;
  std::size_t limit = filter.limit;
  auto rows = co_await records.find(std::move(filter));
  if (!rows.ok()) co_return std::move(rows).error();
  RecordPage<R> page;
  for (const RecordRow& row : *rows) {
    BELAY_CO_TRY(R record, record_from<R>(row));
    page.records.push_back({std::move(record), row.version});
  }
  if (rows->size() == limit && limit > 0) {
    page.next = rows->back().sort_value + ' ' + rows->back().key;
  }
  co_return std::move(page);
}

// A collection and its declared indexes, without its type.
struct CollectionType {
  std::string name;
  std::string indexes;  // their names, sorted, separated by spaces
  bool is_of_tenant = false;
  // Returns the write that saves a stored record with the declared indexes.
  std::function<Result<RecordWrite>(const RecordRow&)> save;
};

template <Record R>
CollectionType collection_type() {
  std::vector<std::string> names;
  auto add = [&](const auto& index) { names.push_back("order:" + std::string(index.name)); };
  auto add_member = [&](auto member) {
    names.emplace_back(reflect::member_names<R>[reflect::index_of(member)]);
  };
  std::apply([&](auto... members) { (add_member(members), ...); }, R::indexed());
  if constexpr (requires { R::ordered(); }) {
    std::apply([&](const auto&... indexes) { (add(indexes), ...); }, R::ordered());
  }
  std::sort(names.begin(), names.end());
  CollectionType type;
  type.name = R::collection;
  for (const std::string& name : names) type.indexes += (type.indexes.empty() ? "" : " ") + name;
  type.is_of_tenant = is_of_tenant<R>;
  type.save = [](const RecordRow& row) -> Result<RecordWrite> {
    BELAY_TRY(R record, record_from<R>(row));
    return record_write(record, row.user);
  };
  return type;
}

// Compares the declared indexes with those that the tenant's records were saved with. `invalid` if
// they differ: the message names both, and reindex_collection(). Call this before the first use of
// a collection; the first call for a collection without records stores its declaration.
Task<Result<Done>> open_collection(Store& store, TenantId tenant, CollectionType type);
// Saves all records of the tenant's collection with the declared indexes, in commits of about 100
// records, then stores the declaration; returns their number. Other processes can write meanwhile:
// a record that changes is read again. If it is stopped, the next call starts over.
Task<Result<std::size_t>> reindex_collection(Store& store, TenantId tenant, CollectionType type);

}  // namespace belay
