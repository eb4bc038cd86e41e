// Reads the events of a run during its execution: streamed text, updates, statuses. A reader in any
// process that continues after the last id that it has received gets exactly the remaining events.
//
//     $ 07_streaming

#include <belay/testing.h>
#include <algorithm>
#include <belay/belay.hpp>
#include <iostream>
#include <string>

using namespace belay;
using namespace std::chrono_literals;

struct Story {
  std::string text{};
  int words = 0;
};

// Streams text word by word, as a language model streams its tokens.
Task<Update<Story>> tell(const Story&, Context& context) {
  for (std::string word : {"Once ", "upon ", "a ", "time."}) {
    context.stream(word);
    co_await sleep_for(100ms);
  }
  co_return set(&Story::text, std::string(context.streamed()));
}

Update<Story> count(const Story& story, Context&) {
  auto spaces = std::count(story.text.begin(), story.text.end(), ' ');
  return set(&Story::words, static_cast<int>(spaces) + 1);
}

Result<Graph<Story>> story_graph() {
  GraphBuilder<Story> graph{"story"};
  graph.node("tell", tell);
  graph.node("count", count);
  graph.edge(start, "tell").edge("tell", "count").edge("count", end);
  return std::move(graph).build();
}

void show(const StreamEvent& event) {
  // Deltas have no id and are not stored; the text of a completed node is an event with an id.
  std::string id = event.id ? event.id->text() : "   ";
  std::cout << id << "  " << name_of(event.kind) << "  " << to_json(event.body) << "\n";
}

Task<Done> follow(Runtime& runtime, EventOptions options) {
  auto reader = (co_await runtime.events(options)).value();
  while (true) {
    auto events = (co_await reader->next()).value();
    if (events.empty()) co_return Done{};  // the run has ended
    for (const StreamEvent& event : events) show(event);
  }
}

int main() {
  testing::SimulatedClock clock{*instant_from("2026-03-02T18:00:00Z")};
  testing::SimulatedLoop loop{clock};
  testing::SeededRandom random{1};
  testing::ScriptedModel no_model;
  auto store = open_store("memory:", clock, random).value();
  auto runtime = Runtime::open({*store, loop, clock, random, no_model}).value();
  auto graph = story_graph().value();
  runtime->add(graph);

  auto story = spawn<Result<RunView>>(
      loop, runtime->start(graph, {}, {.thread = ThreadId("first")}), [](auto) {});
  EventOptions options{.thread = ThreadId("first")};
  options.kinds = {EventKind::messages, EventKind::updates, EventKind::status};
  block_on(loop, follow(*runtime, options));

  std::cout << "once more, what came after 2-1:\n";
  options.after = event_id_from("2-1");
  block_on(loop, follow(*runtime, options));
}
