// Enqueues a run for tomorrow morning. A worker claims it when it is due. Between two reminders the
// run waits for two days and occupies neither a process nor memory. The clock is simulated, so that
// the week passes immediately; with system_clock() and make_event_loop() it takes a week.
//
//     $ 09_schedule

#include <belay/testing.h>
#include <belay/belay.hpp>
#include <iostream>
#include <string>

using namespace belay;
using namespace std::chrono_literals;

struct Reminder {
  std::string text{};
  int times = 0;
};

Update<Reminder> remind(const Reminder& reminder, Context& context) {
  std::cout << to_text(context.now()).substr(0, 16) << "  " << reminder.text << "\n";
  return add(&Reminder::times, 1);
}

Result<Graph<Reminder>> reminder_graph() {
  GraphBuilder<Reminder> graph{"reminder"};
  graph.node("remind", remind);
  graph.wait("sleep", 48h);
  graph.edge(start, "remind").edge("sleep", "remind");
  graph.branch("remind", [](const Reminder& reminder) { return reminder.times >= 3; },
               {"sleep", end});
  return std::move(graph).build();
}

int main() {
  testing::SimulatedClock clock{*instant_from("2026-03-02T18:00:00Z")};
  testing::SimulatedLoop loop{clock};
  testing::SeededRandom random{1};
  testing::ScriptedModel no_model;
  auto store = open_store("memory:", clock, random).value();
  auto runtime = Runtime::open({*store, loop, clock, random, no_model}).value();
  auto graph = reminder_graph().value();
  runtime->add(graph);

  StartOptions options{.thread = ThreadId("first")};
  auto tomorrow = *instant_from("2026-03-03T09:00:00Z");
  auto queued = block_on(loop, runtime->enqueue(graph, {"Water the plants."}, options, tomorrow));
  std::cout << to_text(clock.now()).substr(0, 16) << "  " << name_of(queued.value().row.status)
            << " for " << to_text(queued->row.due_at).substr(0, 16) << "\n";

  // Any number of processes can poll one store; each one claims due runs without an owner.
  WorkerOptions working{.poll_interval = 60s};
  auto worker = spawn<Result<std::size_t>>(loop, runtime->run_worker(working), [&](auto taken_up) {
    std::cout << "the worker took up a run " << taken_up.value() << " times\n";
  });
  loop.run_until(clock.now() + 24h * 7);
  runtime->drain();
  loop.run();

  auto view = block_on(loop, runtime->status(default_tenant(), options.thread)).value();
  std::cout << "the run has " << name_of(view.row.status) << "\n";
}
