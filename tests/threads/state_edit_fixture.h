#pragma once
// tests/threads/state_edit_fixture.h - StateEdits: a runtime with two graphs that write a letter,
// one of them with an approval, for tests of changes of a thread's state.
//
// Threading: values of one test.

#include "belay/check.h"
#include "tests/support/runtime_fixture.h"

namespace belay {

struct Draft {
  std::string text{};
  std::vector<std::string> log{};
  bool urgent = true;
  int calls = 0;
};

inline Update<Draft> plan(const Draft&, Context&) { return append(&Draft::log, "plan"); }
inline Update<Draft> write(const Draft& draft, Context&) {
  return set(&Draft::text, "draft of " + draft.text).append(&Draft::log, "write");
}
inline Update<Draft> send(const Draft& draft, Context&) {
  return append(&Draft::log, "send " + draft.text);
}
inline Update<Draft> file(const Draft&, Context&) { return append(&Draft::log, "file"); }

struct StateEdits : RuntimeFixture {
  Graph<Draft> line = built("line", false);
  Graph<Draft> asking = built("asking", true);
  int effects = 0;

  StateEdits() {
    runtime->add(line);
    runtime->add(asking);
  }

  // plan, write, (review,) send, file
  static Graph<Draft> built(std::string name, bool asks) {
    GraphBuilder<Draft> graph{std::move(name)};
    graph.accumulate(&Draft::log);
    graph.node("plan", plan);
    graph.node("write", write);
    if (asks) {
      graph.approval("review", &Draft::text, {.question = "Send it?"})
          .approved("send")
          .rejected(end);
    }
    graph.node("send", send);
    graph.node("file", file);
    graph.edge(start, "plan").edge("plan", "write").edge("write", asks ? "review" : "send");
    graph.edge("send", "file").edge("file", end);
    return std::move(graph).build().value();
  }

  static StartOptions on(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    return options;
  }
  RunView begin(const Graph<Draft>& of, const std::string& thread, Breakpoints breakpoints = {}) {
    StartOptions options = on(thread);
    options.run.breakpoints = std::move(breakpoints);
    Draft input;
    input.text = "a letter";
    return block_on(loop, runtime->start(of, input, options)).value();
  }
  Result<RunView> edit(const Graph<Draft>& of, const std::string& thread, Value values,
                       StateEdit edit = {}) {
    StartOptions options = on(thread);
    options.edit = std::move(edit);
    options.edit->values = std::move(values);
    options.edit->held = true;
    return block_on(loop, runtime->start(of, Draft(), options));
  }
  Result<RunView> resume(const std::string& thread,
                         std::optional<Breakpoints> breakpoints = std::nullopt) {
    return block_on(loop,
                    runtime->resume(default_tenant(), ThreadId(thread), std::move(breakpoints)));
  }
  std::string violations() {
    CheckScope scope;
    scope.graphs = {graph.definition(), line.definition(), asking.definition()};
    std::string found;
    auto report = block_on(loop, check_store(*store, scope)).value();
    for (const Violation& each : report.violations) found += each.rule + ": " + each.message + "\n";
    return found;
  }
  std::string replayed(const RunView& view) {
    ReplayOptions options;
    options.thread = view.row.thread;
    options.run = view.row.run;
    auto report = block_on(loop, runtime->replay(options));
    if (!report.ok()) return report.error().message;
    if (!report->divergence) return "";
    return report->divergence->what + ": " + report->divergence->recorded + ", replayed " +
           report->divergence->replayed;
  }
};

}  // namespace belay
