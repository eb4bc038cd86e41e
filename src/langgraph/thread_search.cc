#include "langgraph/thread_search.h"

#include <algorithm>

#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::size_t kComparedStatesMax = 1'000;
constexpr std::size_t kLeftRecordsMax = 100;  // of threads, that one search erases

struct ThreadSelection {
  Value metadata, values;
  std::string status;
  std::optional<std::vector<std::string>> ids;
};

Result<ThreadSelection> thread_selection_in(const Value& body) {
  ThreadSelection selection;
  BELAY_TRY(selection.metadata, object_member(body, "metadata"));
  BELAY_TRY(selection.values, object_member(body, "values"));
  BELAY_TRY(selection.ids, texts_member(body, "ids"));
  BELAY_TRY(auto status, text_member(body, "status"));
  if (!status) return selection;
  selection.status = *std::move(status);
  for (auto each :
       {ThreadStatus::idle, ThreadStatus::busy, ThreadStatus::interrupted, ThreadStatus::error}) {
    if (name_of(each) == selection.status) return selection;
  }
  return error(ErrorCode::invalid, "\"status\" must be idle, busy, interrupted or error.");
}

bool is_selected(const ThreadView& thread, const ThreadSelection& selection) {
  if (!selection.status.empty() && thread.status() != selection.status) return false;
  if (selection.ids && std::find(selection.ids->begin(), selection.ids->end(), thread.id.text) ==
                           selection.ids->end()) {
    return false;
  }
  return contains_value(thread.metadata(), selection.metadata);
}

Error too_many_threads() {
  return error(ErrorCode::exhausted, "There are more than " + std::to_string(kSearchedMax) +
                                         " threads. A search of so many is not possible.");
}

// True if the thread of the record was deleted through another door. A thread whose first run is
// newer than the list of threads is added.
Task<Result<bool>> was_deleted(const Call& call, std::map<ThreadId, ThreadView>& all,
                               std::string id) {
  ThreadId thread(std::move(id));
  ThreadId named = thread;
  BELAY_CO_TRY(auto listed, co_await listed_thread(call, std::move(named)));
  bool exists = listed && listed->thread.user == call.who.user;
  if (exists) all[thread].listed = *std::move(listed);
  co_return !exists;
}

// Adds the records of threads. Those that deletions have left do not count: some of them are
// erased.
Task<Result<Done>> add_records(const Call& call, std::map<ThreadId, ThreadView>& all) {
  RecordFilter filter;
  filter.collection = ThreadRecord::collection;
  filter.limit = limits::list_rows_max;
  std::size_t erased = 0;
  bool is_last = false;
  while (!is_last) {
    RecordFilter page = filter;
    UserId owner = call.who.user;
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await call.service.find_records(call.who, std::move(owner), std::move(page)));
    is_last = rows.size() < filter.limit;
    if (!rows.empty()) filter.after = rows.back().key;
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(ThreadRecord record, record_from<ThreadRecord>(row));
      ThreadId id(record.id);
      bool may_be_left = record.has_begun && !all.contains(id);
      if (may_be_left && erased >= kLeftRecordsMax) continue;
      if (may_be_left) {
        std::string named = record.id;
        BELAY_CO_TRY(bool is_left, co_await was_deleted(call, all, std::move(named)));
        if (is_left) {
          UserId user = call.who.user;
          ThreadId left = id;
          co_await erase_left_records(call, std::move(left), std::move(user), row.version);
          ++erased;
          continue;
        }
      }
      ThreadView& view = all[id];
      view.id = std::move(id);
      view.user = call.who.user;
      view.record = std::move(record);
    }
    if (all.size() > kSearchedMax) co_return too_many_threads();
  }
  co_return Done{};
}

// All threads of the caller's user, by id.
Task<Result<std::map<ThreadId, ThreadView>>> all_threads(const Call& call) {
  std::map<ThreadId, ThreadView> all;
  ThreadPage page;
  page.limit = limits::list_rows_max;
  page.user = call.who.user;
  while (true) {
    ThreadPage next = page;
    BELAY_CO_TRY(std::vector<ListedThread> listed,
                 co_await call.service.threads(call.who, std::move(next)));
    bool is_last = listed.size() < page.limit;
    if (!listed.empty()) page.before = listed.back().thread.thread;
    for (ListedThread& each : listed) {
      ThreadView& view = all[each.thread.thread];
      view.id = each.thread.thread;
      view.user = each.thread.user;
      view.listed = std::move(each);
    }
    if (all.size() > kSearchedMax) co_return too_many_threads();
    if (is_last) break;
  }
  BELAY_CO_CHECK(co_await add_records(call, all));
  co_return std::move(all);
}

Task<Result<bool>> has_values(AgentServer& served, const Call& call, ThreadId thread,
                              Value wanted) {
  auto run = co_await call.service.status(call.who, std::move(thread), std::nullopt);
  if (!run.ok() && run.error().code == ErrorCode::not_found) co_return false;
  if (!run.ok()) co_return std::move(run).error();
  co_return contains_value(values_of(served, *run), wanted);
}

Instant state_change_of(const ThreadView& thread) {
  return thread.has_run() ? thread.listed->run->updated_at : thread.created_at();
}

std::pair<std::string, std::string> thread_sort_key(const ThreadView& thread, std::string_view by) {
  if (by == "created_at") return {to_text(thread.created_at()), thread.id.text};
  if (by == "updated_at") return {to_text(thread.updated_at()), thread.id.text};
  if (by == "state_updated_at") return {to_text(state_change_of(thread)), thread.id.text};
  if (by == "status") return {std::string(thread.status()), thread.id.text};
  return {thread.id.text, thread.id.text};
}

bool needs_state(const SearchPage& page) {
  if (page.select.empty()) return true;
  return std::any_of(page.select.begin(), page.select.end(), [](const std::string& name) {
    return name == "values" || name == "interrupts" || name == "error";
  });
}

}  // namespace

Task<Result<std::vector<ThreadView>>> matching_threads(AgentServer& served, const Call& call) {
  BELAY_CO_TRY(ThreadSelection selection, thread_selection_in(call.body));
  BELAY_CO_TRY(auto all, co_await all_threads(call));
  std::vector<ThreadView> matching;
  for (auto& [id, thread] : all) {
    if (is_selected(thread, selection)) matching.push_back(std::move(thread));
  }
  if (selection.values.as_object()->empty()) co_return std::move(matching);
  if (matching.size() > kComparedStatesMax) {
    co_return error(ErrorCode::exhausted,
                    "\"values\" would be compared with more than " +
                        std::to_string(kComparedStatesMax) +
                        " states. Select fewer threads by metadata, status or ids.");
  }
  std::vector<ThreadView> with_values;
  for (ThreadView& thread : matching) {
    ThreadId id = thread.id;
    Value wanted = selection.values;
    BELAY_CO_TRY(bool fits, co_await has_values(served, call, std::move(id), std::move(wanted)));
    if (fits) with_values.push_back(std::move(thread));
  }
  co_return std::move(with_values);
}

void sort_threads(std::vector<ThreadView>& threads, const SearchPage& page) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::size_t>> keys;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    keys.emplace_back(thread_sort_key(threads[i], page.sort_by), i);
  }
  std::sort(keys.begin(), keys.end());
  if (page.is_descending) std::reverse(keys.begin(), keys.end());
  std::vector<ThreadView> sorted;
  for (const auto& [key, position] : keys) sorted.push_back(std::move(threads[position]));
  threads = std::move(sorted);
}

Task<Result<Value>> document_with_state(AgentServer& served, const Call& call, ThreadView thread,
                                        SearchPage page) {
  std::optional<RunView> run;
  if (thread.has_run() && needs_state(page)) {
    ThreadId id = thread.id;
    auto read = co_await call.service.status(call.who, std::move(id), std::nullopt);
    // The thread can have been deleted since it was found.
    bool is_absent = !read.ok() && read.error().code == ErrorCode::not_found;
    if (!read.ok() && !is_absent) co_return std::move(read).error();
    if (read.ok()) run = *std::move(read);
  }
  co_return selected(page, thread_document(served, thread, run ? &*run : nullptr));
}

}  // namespace belay::langgraph
