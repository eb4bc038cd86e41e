#pragma once
// load/all_rows.h - reads all rows of a run that a filter matches, one page after another.
//
// A full page is not necessarily the last one: readers that need all rows use these functions.
// Each page holds at most limits::page_rows_max rows, and all pages are read from the same
// snapshot.

#include "belay/limits.h"
#include "belay/store.h"

namespace belay {

// Calls visit(EffectRow) for each effect, ordered by (task, name). REQUIRES: filter.run is set.
template <typename Visit>
Result<Done> for_each_effect(Snapshot& view, EffectFilter filter, Visit visit) {
  filter.after.emplace();
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(std::vector<EffectRow> page, view.effects(filter));
    if (page.empty()) return Done{};
    bool is_last = page.size() < filter.limit;
    filter.after.emplace(page.back().task, page.back().name);
    for (EffectRow& row : page) visit(std::move(row));
    if (is_last) return Done{};
  }
}

// Calls visit(OutboxRow) for each message, ordered by (seq, index). REQUIRES: filter.run is set.
template <typename Visit>
Result<Done> for_each_message(Snapshot& view, OutboxFilter filter, Visit visit) {
  filter.after.emplace(0, -1);
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(std::vector<OutboxRow> page, view.outbox(filter));
    if (page.empty()) return Done{};
    bool is_last = page.size() < filter.limit;
    filter.after.emplace(page.back().seq, page.back().index);
    for (OutboxRow& row : page) visit(std::move(row));
    if (is_last) return Done{};
  }
}

// Calls visit(ApprovalRow) for each approval, newest first.
template <typename Visit>
Result<Done> for_each_approval(Snapshot& view, ApprovalFilter filter, Visit visit) {
  filter.limit = limits::page_rows_max;
  while (true) {
    BELAY_TRY(std::vector<ApprovalRow> page, view.approvals(filter));
    if (page.empty()) return Done{};
    bool is_last = page.size() < filter.limit;
    filter.before = page.back().interrupt;
    for (ApprovalRow& row : page) visit(std::move(row));
    if (is_last) return Done{};
  }
}

}  // namespace belay
