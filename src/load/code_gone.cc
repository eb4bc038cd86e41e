#include "load/code_gone.h"

#include "belay/limits.h"
#include "engine/restore.h"
#include "load/stored_run.h"

namespace belay {

namespace {

// The run with its newest commit only; nullopt if it has none.
Result<std::optional<engine::StoredRun>> newest_of(Snapshot& view, const RunRow& row) {
  BELAY_TRY(auto newest, newest_checkpoint(view, row.tenant, row.run));
  std::optional<engine::StoredRun> stored;
  if (!newest) return stored;
  stored.emplace();
  stored->row = row;
  stored->checkpoint = *std::move(newest);
  return stored;
}

}  // namespace

Result<std::optional<std::string>> why_code_is_gone(Snapshot& view, const GraphRegistry& graphs,
                                                    const OtherPrograms& others,
                                                    const RunRow& row) {
  std::optional<std::string> why;
  if (is_final(row.status) || graphs.for_version(row.graph, row.graph_hash).ok()) return why;
  // The state of an upgraded run has another version than its row.
  BELAY_TRY(auto stored, newest_of(view, row));
  if (!stored) return why;
  auto version = engine::version_of(*stored);
  if (!version.ok()) return why;  // damage is found when the run is loaded
  auto graph = graphs.for_version(row.graph, *version);
  if (graph.ok() || others.might_continue(row.graph, *version)) return why;
  why = graph.error().message;
  return why;
}

Result<std::optional<std::string>> why_not_executed(Snapshot& view, const GraphRegistry& graphs,
                                                    const RunRow& row) {
  BELAY_TRY(auto why, why_code_is_gone(view, graphs, {}, row));
  if (why || is_final(row.status)) return why;
  if (!graphs.has_material_rules(row.graph)) return why;
  BELAY_TRY(auto stored, newest_of(view, row));
  if (!stored) return why;
  auto version = engine::version_of(*stored);
  auto materials = engine::materials_of(*stored);
  if (!version.ok() || !materials.ok()) return why;
  auto graph = graphs.for_version(row.graph, *version);
  if (graph.ok()) why = refusal_of(**graph, *materials);
  return why;
}

namespace {

// Adds the runs of a page that no program can continue.
Result<Done> add_gone(Snapshot& view, const GraphRegistry& graphs, const OtherPrograms& others,
                      std::vector<RunRow> page, std::vector<RunRow>& gone) {
  for (RunRow& row : page) {
    BELAY_TRY(auto why, why_code_is_gone(view, graphs, others, row));
    if (why) gone.push_back(std::move(row));
  }
  return Done{};
}

}  // namespace

Result<std::vector<RunRow>> runs_without_code(Snapshot& view, const GraphRegistry& graphs,
                                              const OtherPrograms& others, const TenantId& tenant,
                                              const std::optional<UserId>& user) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.user = user;
  filter.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                     RunStatus::quarantined};
  filter.limit = limits::page_rows_max;
  filter.without_input = true;
  std::vector<RunRow> gone;
  while (true) {
    BELAY_TRY(std::vector<RunRow> page, view.runs(filter));
    if (page.empty()) return gone;
    bool is_last = page.size() < filter.limit;
    filter.before = page.back().run;
    BELAY_CHECK(add_gone(view, graphs, others, std::move(page), gone));
    if (is_last) return gone;
  }
}

Result<std::vector<RunRow>> page_without_code(Snapshot& view, const GraphRegistry& graphs,
                                              const OtherPrograms& others, const TenantId& tenant,
                                              CodeGoneCursor& cursor) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.in_pages = true;
  filter.after = cursor.after;
  filter.limit = limits::page_rows_max;
  filter.without_input = true;
  BELAY_TRY(std::vector<RunRow> page, view.runs(filter));
  cursor.is_at_end = page.size() < filter.limit;
  cursor.after.reset();
  if (!cursor.is_at_end) cursor.after = page.back().run;
  std::vector<RunRow> gone;
  BELAY_CHECK(add_gone(view, graphs, others, std::move(page), gone));
  return gone;
}

}  // namespace belay
