// Measures agents with tools on SQLite: a step of a loop of 10 steps with 4 calls each, by the
// class of the tool's effect; the bytes that the store keeps of a long conversation, compared with
// those of its messages; the growth of a step over 100 steps; the memory of 500 agents that wait
// for a model; and a search over 10,000 paragraphs.

#include "belay/agent.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "belay/tools.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/waiting_runs.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int runs = 100;
constexpr int loop_steps = 10;
constexpr int loop_calls = 4;
constexpr int long_steps = 100;
constexpr std::size_t long_bytes = 4'000;
constexpr int paragraphs = 10'000;
constexpr int searches = 100;

struct Item {
  int number = 0;
};

// Requests calls of one tool until the conversation has enough results.
class CallingModel final : public Model {
 public:
  CallingModel(int steps, int calls) : steps_(steps), calls_(calls) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    int step = 0;
    for (const Message& message : request.messages) step += message.role == Role::assistant;
    ModelReply reply;
    reply.provider = "bench";
    if (step + 1 == steps_) {
      reply.text = "done";
      co_return reply;
    }
    reply.stop_reason = StopReason::tool_calls;
    for (int i = 0; i < calls_; ++i) {
      int number = step * calls_ + i;
      reply.tool_calls.push_back(
          {"call" + std::to_string(number), "item", Value::object({{"number", number}})});
    }
    co_return reply;
  }

 private:
  int steps_;
  int calls_;
};

Graph<AgentState> agent(ToolEffect effect, std::size_t result_bytes) {
  auto function = [result_bytes](const Item& item, ToolContext&) {
    std::string text = std::to_string(item.number) + " ";
    // Text that a compression cannot shorten to nothing.
    std::uint64_t bits = static_cast<std::uint64_t>(item.number) + 1;
    while (text.size() < result_bytes) {
      bits = bits * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
      text += static_cast<char>('a' + (bits >> 60));
    }
    return text;
  };
  AgentOptions options;
  options.tools = {make_tool<Item>({.name = "item", .effect = effect}, function)};
  options.steps_max = long_steps + 1;
  return value_or_exit(agent_graph("bench", std::move(options)));
}

// Executes the runs and returns microseconds per step.
double time_of(World& world, const std::string& path, ToolEffect effect) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  CallingModel model(loop_steps, loop_calls);
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  auto graph = agent(effect, 40);
  runtime->add(graph);
  Span span;
  for (int i = 0; i < runs; ++i) {
    AgentState state;
    state.question = "Begin.";
    RunView view = value_or_exit(
        block_on(*world.loop, runtime->start(graph, std::move(state), StartOptions())));
    if (view.row.status != RunStatus::completed) exit_with("A run did not complete.");
  }
  span.stop();
  return span.seconds * 1e6 / (runs * loop_steps);
}

void long_conversation(World& world, const std::string& path) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  CallingModel model(long_steps, 1);
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  auto graph = agent(ToolEffect::reads, long_bytes);
  runtime->add(graph);
  std::uint64_t before = value_or_exit(store->statistics()).bytes;
  AgentState state;
  state.question = "Begin.";
  Span span;
  RunView view =
      value_or_exit(block_on(*world.loop, runtime->start(graph, std::move(state), StartOptions())));
  span.stop();
  if (view.row.status != RunStatus::completed) exit_with("The long run did not complete.");
  double stored = static_cast<double>(value_or_exit(store->statistics()).bytes - before);
  double unique = static_cast<double>(long_steps - 1) * long_bytes;
  std::printf(
      "\n%d steps with results of %zu bytes: %.0f us per step; %.0f KB stored for %.0f KB "
      "of results, ratio %.2f\n",
      long_steps, long_bytes, span.seconds * 1e6 / long_steps, stored / 1e3, unique / 1e3,
      stored / unique);
}

// Writes files of 100 paragraphs, each of some 40 words of a vocabulary of 2,000.
void write_paragraphs(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::uint64_t bits = 1;
  for (int file = 0; file < paragraphs / 100; ++file) {
    std::ofstream out(folder + "/" + std::to_string(file) + ".md");
    for (int paragraph = 0; paragraph < 100; ++paragraph) {
      for (int word = 0; word < 40; ++word) {
        bits = bits * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
        out << "word" << (bits >> 33) % 2'000 << ' ';
      }
      out << "\n\n";
    }
  }
}

void local_search(World& world, const std::string& folder) {
  write_paragraphs(folder);
  Tool tool = value_or_exit(local_search_tool({.folders = {folder}}));
  Context context{Context::Attempt()};
  ToolContext call(context, "1", "key");
  std::vector<double> milliseconds;
  double first = 0;
  for (int i = 0; i <= searches; ++i) {
    std::string query = "word" + std::to_string(i * 7) + " word" + std::to_string(i * 11);
    Span span;
    Value arguments = Value::object({{"query", query}, {"limit", 10}});
    std::string found =
        value_or_exit(block_on(*world.loop, tool.function()(std::move(arguments), call)));
    span.stop();
    if (found.find(".md") == found.npos) exit_with("The search has no result: " + found);
    if (i == 0) {
      first = span.seconds * 1e3;
    } else {
      milliseconds.push_back(span.seconds * 1e3);
    }
  }
  std::printf(
      "\nsearch over %d paragraphs: median %.1f ms, 95 %% within %.1f ms; the first one, which "
      "indexes them, %.0f ms\n",
      paragraphs, median(milliseconds), quantile(milliseconds, 0.95), first);
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  std::printf("%d runs of %d steps with %d calls each, without the model's time:\n\n", runs,
              loop_steps, loop_calls);
  std::printf("| effect | microseconds per step |\n|---|---|\n");
  for (ToolEffect effect : {ToolEffect::reads, ToolEffect::keyed, ToolEffect::unkeyed}) {
    std::string name(name_of(effect));
    std::printf("| %s | %.0f |\n", name.c_str(),
                time_of(world, place.path + "/" + name + ".db", effect));
  }
  AgentState question;
  question.question = "Begin.";
  std::printf("\n");
  print_waiting_runs(world, place.path + "/waiting.db", agent(ToolEffect::reads, 40), question, 1,
                     "agents");
  long_conversation(world, place.path + "/long.db");
  local_search(world, place.path + "/folder");
  return 0;
}
