#pragma once
// tests/support/materials_fixture.h - test fixture of a run whose program changes its materials.

#include "belay/check.h"
#include "belay/json_graph.h"
#include "engine/next_task.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {

// The materials of a program.
struct ProgramForm {
  std::string prompt = "Be brief.", model = "openai:small";
  std::vector<std::string_view> refused = {};
  bool migrates = false;
};

struct Materials : CrashingStoreFixture {
  int migrations = 0;

  // Two steps, each after a breakpoint.
  JsonGraph steps(const ProgramForm& form = {}) {
    JsonGraphBuilder graph{"steps"};
    graph.channel("log", {.kind = JsonKind::array});
    graph.channel("note", {.kind = JsonKind::string});
    for (std::string step : {"one", "two"}) {
      graph
          .node(step, [step](const Value& state,
                             Context&) { return append("log", step + *state["note"].as_string()); })
          .interrupt_before();
    }
    graph.edge(start, "one").edge("one", "two").edge("two", end);
    graph.material("prompt", form.prompt).material("model", form.model);
    graph.on_changed_materials(MaterialChange::refuse, form.refused);
    if (form.migrates) {
      graph.migrate_materials({"prompts"}, [this](Value state) -> Result<Value> {
        ++migrations;
        Value::Object next = *state.as_object();
        const std::string* note = state["note"].as_string();
        next.insert_or_assign("note", (note ? *note : std::string()) + "!");
        return Value(std::move(next));
      });
    }
    return std::move(graph).build().value();
  }

  RunView begin(const ProgramForm& form = {}) {
    JsonGraph graph = steps(form);
    auto runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId("t");
    return block_on(loop, runtime->start(graph, Value::Object(), options)).value();
  }
  Result<RunView> resume(const ProgramForm& form = {}) {
    auto runtime = process(steps(form));
    return block_on(loop, runtime->resume(default_tenant(), ThreadId("t")));
  }
  Result<RunView> accept(const ProgramForm& form, std::optional<std::uint64_t> only_at = {}) {
    auto runtime = process(steps(form));
    return block_on(loop, runtime->resume(default_tenant(), ThreadId("t"), std::nullopt, only_at,
                                          Consent{"ana", "ben"}));
  }
  RunView status(const ProgramForm& form = {}) {
    auto runtime = process(steps(form));
    return block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  }
  // The model of each commit, oldest first.
  std::vector<std::string> models() {
    std::vector<std::string> models;
    auto rows = rows_of(status().row.run, &Snapshot::checkpoints);
    for (std::size_t i = rows.size(); i-- > 0;) {
      auto next = engine::next_tasks_from(rows[i].next_tasks).value();
      auto found = next.materials.find("model");
      models.push_back(found == next.materials.end() ? "none" : found->second);
    }
    return models;
  }
  std::vector<EventRow> events_of_kind(const std::string& kind) {
    auto rows = rows_of(status().row.run, &Snapshot::events);
    std::erase_if(rows, [&](const EventRow& row) { return row.type != kind; });
    return rows;
  }
  std::string violations(const ProgramForm& form = {}) {
    CheckScope scope;
    scope.graphs = {steps(form).definition()};
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) told += each.rule + ": " + each.message + "\n";
    return told;
  }
};

}  // namespace belay
