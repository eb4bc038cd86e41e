// Measures the overhead of `belay serve`: starts compared with calls of the library, the delays of
// events after their commit and of streamed text, the time until a cancel stops a hanging model,
// and the startup time and memory of the server.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "agents/assistant/assistant.h"
#include "belay/event.h"
#include "bench/connection.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/served_program.h"
#include "bench/ticking_model.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int starts_per_round = 200;
constexpr int runs_per_round = 5;
constexpr int rounds_of_memory = 3;
constexpr int cancels_per_round = 10;
// Longer than the benchmark, so that no enqueued run executes during the measurement.
constexpr std::int64_t delay_milliseconds = 86'400'000;

struct Measured {
  std::vector<double> ready, idle;                       // ms, MB
  std::vector<double> starts_served, starts_in_library;  // ms
  std::vector<double> events, pieces;                    // ms
  std::vector<double> cancels, given_up;                 // ms
};

double milliseconds_since(double began) { return (wall_seconds() - began) * 1e3; }

std::string start_body(const std::string& thread, const std::string& more) {
  return R"({"threadId":")" + thread + R"(","input":{"question":"What time is it?")" + more + "}}";
}

// Starts through the library, for comparison: the same graph and durability, a file on the same
// disk.
class Library {
 public:
  explicit Library(const std::string& path)
      : store_(value_or_exit(open_sqlite_store(path, *world_.clock, *world_.random))),
        runtime_(world_.runtime(*store_)),
        graph_(value_or_exit(assistant::assistant())) {
    runtime_->add(graph_);
  }

  void enqueue() {
    assistant::Conversation input;
    input.question = "What time is it?";
    Instant due = world_.clock->now() + std::chrono::milliseconds(delay_milliseconds);
    value_or_exit(
        block_on(*world_.loop, runtime_->enqueue(graph_, std::move(input), StartOptions{}, due)));
  }

 private:
  World world_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Runtime> runtime_;
  Graph<assistant::Conversation> graph_;
};

// Alternates between server and library, so that both use the disk under the same conditions.
void measure_starts(int port, Library& library, Measured& measured) {
  Connection connection(port);
  std::string body = R"({"input":{"question":"What time is it?"},"delayMs":)" +
                     std::to_string(delay_milliseconds) + "}";
  for (int i = 0; i < starts_per_round; ++i) {
    double began = wall_seconds();
    Answered answer = connection.ask("POST", "/api/agents/assistant/runs", body);
    measured.starts_served.push_back(milliseconds_since(began));
    if (answer.status != 202) exit_with("A start was answered: " + answer.body);
    began = wall_seconds();
    library.enqueue();
    measured.starts_in_library.push_back(milliseconds_since(began));
  }
}

// The model streams the times at which it sends: records their delays.
void note_pieces(const Value& event, std::int64_t now, Measured& measured) {
  const std::string* text = event["body"]["text"].as_string();
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(' '), rest.size());
    if (auto said = number_in<std::int64_t>(rest.substr(0, end))) {
      measured.pieces.push_back(static_cast<double>(now - *said) / 1e3);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Reads the events of a run with a streaming model, from its start to its end.
void follow_run(int port, const std::string& thread, Measured& measured) {
  Connection starts(port), events(port);
  std::string begun = start_body(thread, "");
  Answered answer =
      starts.ask("POST", "/api/agents/assistant/runs", begun, "Prefer: respond-async\r\n");
  if (answer.status != 202) exit_with("A start was answered: " + answer.body);
  double opened = static_cast<double>(now_microseconds());
  events.open_events("/api/threads/" + thread + "/events");
  while (true) {
    std::string data = events.next_event();
    std::int64_t now = now_microseconds();
    if (data.empty()) return;
    Value event = value_or_exit(parse_json(data));
    const std::string* at = event["at"].as_string();
    auto committed = at ? instant_from(*at) : std::nullopt;
    if (!committed) continue;
    bool is_durable = !event["id"].is_null();
    // The events of a subgraph's steps are returned with the commit that ends the subgraph.
    bool is_of_run = event["namespace"].is_null();
    double since = static_cast<double>(committed->time_since_epoch().count());
    // Events that were committed before the stream was opened are not measured.
    if (is_durable && is_of_run && since > opened)
      measured.events.push_back((static_cast<double>(now) - since) / 1e3);
    if (!is_durable) note_pieces(event, now, measured);
  }
}

void wait_until(const std::function<bool()>& is_so) {
  for (int i = 0; i < 20'000 && !is_so(); ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  if (!is_so()) exit_with("The expected event did not happen within ten seconds.");
}

void measure_cancel(int port, const std::string& thread, const TickingModel& model,
                    Measured& measured) {
  Connection connection(port);
  int hung = model.hanging(), given_up = model.given_up();
  std::string body = start_body(thread, R"(,"instructions":"hang")");
  connection.ask("POST", "/api/agents/assistant/runs", body, "Prefer: respond-async\r\n");
  wait_until([&] { return model.hanging() > hung; });
  std::int64_t asked = now_microseconds();
  Answered answer = connection.ask("POST", "/api/threads/" + thread + "/cancel", "{}");
  measured.cancels.push_back(static_cast<double>(now_microseconds() - asked) / 1e3);
  if (answer.status != 200) exit_with("A cancel failed: " + answer.body);
  wait_until([&] { return model.given_up() > given_up; });
  measured.given_up.push_back(static_cast<double>(model.given_up_at() - asked) / 1e3);
}

void print(const char* what, const std::vector<double>& numbers, const char* unit,
           const char* target) {
  std::printf("| %s | %zu | %.2f | %.2f | %.2f %s | %s |\n", what, numbers.size(), median(numbers),
              quantile(numbers, 0.99), *std::max_element(numbers.begin(), numbers.end()), unit,
              target);
}

void print_all(const Measured& measured) {
  std::printf("| | measured | median | p99 | most | target |\n|---|---|---|---|---|---|\n");
  print("from the start of the process until it is ready", measured.ready, "ms", "50 ms");
  print("memory of the idle server", measured.idle, "MB", "18 MB");
  print("a run is started over HTTP, durable", measured.starts_served, "ms", "");
  print("the same by a call of the library", measured.starts_in_library, "ms", "p99 + 0.5 ms");
  print("an event since its commit began, its write included", measured.events, "ms", "5 ms");
  print("a delta of a model's text, from the model to a reader", measured.pieces, "ms", "2 ms");
  print("a cancel of a model that hangs, until it is durable", measured.cancels, "ms",
        "p99 2 s, better 100 ms");
  print("until the model's connection is closed", measured.given_up, "ms", "the same");
  std::printf("\nA start over HTTP adds %.2f ms at the median, %.2f ms at p99.\n",
              median(measured.starts_served) - median(measured.starts_in_library),
              quantile(measured.starts_served, 0.99) - quantile(measured.starts_in_library, 0.99));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  std::string belay = options.belay;
  if (belay.empty()) {
    belay = std::filesystem::absolute(arguments[0]).parent_path().parent_path() / "belay";
  }
  Workplace place(options.directory);
  TickingModel model;
  std::string store = "sqlite:" + place.path + "/served.db";
  std::vector<std::string> variables = {"BELAY_MODEL=ollama:tick", "BELAY_MODEL_URL=" + model.url(),
                                        "OLLAMA_HOST="};
  {
    ServedProgram first(belay, store, variables);
  }  // not measured: creates the store, loads the program from the disk
  Library library(place.path + "/library.db");
  Measured measured;
  double wait_left = options.max_wait;
  Span span;
  for (int round = 0; round < options.rounds; ++round) {
    wait_for_quiet(wait_left);
    ServedProgram served(belay, store, variables);
    measured.ready.push_back(served.ready_milliseconds());
    if (round < rounds_of_memory) measured.idle.push_back(served.idle_megabytes());
    measure_starts(served.port(), library, measured);
    std::string name = std::to_string(round) + "-";
    for (int i = 0; i < runs_per_round; ++i) {
      follow_run(served.port(), "speaks-" + name + std::to_string(i), measured);
    }
    for (int i = 0; i < cancels_per_round; ++i) {
      measure_cancel(served.port(), "hangs-" + name + std::to_string(i), model, measured);
    }
  }
  span.stop();
  std::printf("%s; others' load %.2f (the server's own included)\n\n", description().c_str(),
              span.other_load);
  print_all(measured);
}
