// The requests of an agent, as the bodies that the three providers receive: valid conversations,
// each of which begins with the bytes of the previous one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "models/protocol.h"
#include "tests/support/history_rules.h"

namespace belay {
namespace {

struct Provider {
  std::string name;
  std::unique_ptr<models::Protocol> protocol;
};

std::vector<Provider> providers() {
  models::Server server{"", "m", "http://127.0.0.1:1", "", std::nullopt, std::nullopt};
  std::vector<Provider> all;
  all.push_back({"openai", models::openai_protocol(server)});
  all.push_back({"anthropic", models::anthropic_protocol(server)});
  all.push_back({"ollama", models::ollama_protocol(server)});
  return all;
}

// Passes each request to a function, and keeps its body for each provider.
class ObservedModel final : public Model {
 public:
  using Function = std::function<Result<ModelReply>(const ModelRequest&)>;
  explicit ObservedModel(Function function) : function_(std::move(function)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    for (const Provider& provider : providers_) {
      std::string body = provider.protocol->encode(request).value().body;
      auto fault = providers::history_fault(parse_json(body).value(), provider.name);
      if (fault) faults.push_back(provider.name + ": " + *fault);
      bodies[provider.name].push_back(std::move(body));
    }
    co_return function_(request);
  }

  std::map<std::string, std::vector<std::string>> bodies;
  std::vector<std::string> faults;

 private:
  std::vector<Provider> providers_ = providers();
  Function function_;
};

struct Note {
  std::string text{};
};

Tool note_tool(ToolApproval approval) {
  return make_tool<Note>({.name = "note",
                          .description = "Keeps a \"note\".",
                          .effect = ToolEffect::keyed,
                          .approval = approval},
                         [](const Note& note, ToolContext&) { return "kept: " + note.text; });
}

ModelReply calls_of(int number, int count) {
  ModelReply reply;
  reply.stop_reason = StopReason::tool_calls;
  for (int i = 0; i < count; ++i) {
    std::string id = std::to_string(number) + "-" + std::to_string(i);
    reply.tool_calls.push_back({id, "note", Value::object({{"text", "ñ\"" + id}})});
  }
  return reply;
}

ModelReply answer_of(std::string text) {
  ModelReply reply;
  reply.text = std::move(text);
  return reply;
}

int results_of(const ModelRequest& request) {
  auto is_result = [](const Message& message) { return message.role == Role::tool; };
  return static_cast<int>(
      std::count_if(request.messages.begin(), request.messages.end(), is_result));
}

AgentState question_of(std::string question) {
  AgentState state;
  state.question = std::move(question);
  return state;
}

void expect_growing(const ObservedModel& model) {
  constexpr std::size_t end_of_body = 2;  // "]}"
  for (const auto& [provider, bodies] : model.bodies) {
    for (std::size_t i = 1; i < bodies.size(); ++i) {
      std::string_view before = std::string_view(bodies[i - 1]);
      before.remove_suffix(end_of_body);
      ASSERT_TRUE(bodies[i].starts_with(before)) << provider << ", request " << i;
    }
  }
}

// Each of its processes dies after three commits, the next one after another three.
TEST(AgentRequests, BeginWithTheBytesOfThePreviousOneWhereverProcessesDie) {
  constexpr int steps = 100;
  auto model = std::make_shared<ObservedModel>([](const ModelRequest& request) {
    int results = results_of(request);
    return results < steps - 1 ? calls_of(results, 1) : answer_of("done");
  });
  AgentOptions options;
  options.prompt = "You keep notes.";
  options.tools = {note_tool(ToolApproval::never)};
  options.steps_max = steps + 1;
  auto graph = agent_graph("notes", options).value();
  testing::World world;
  world.model(model);
  auto scenario = world.run(graph, question_of("Keep notes."));
  constexpr int commits = 3;
  for (int process = 0; process < steps; ++process) {
    scenario.crash_at(testing::after_commit(commits));
  }
  auto run = scenario.approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.crashes(), steps);
  EXPECT_EQ(run.state().steps, steps);
  EXPECT_GE(model->bodies["openai"].size(), static_cast<std::size_t>(steps));
  EXPECT_THAT(model->faults, ::testing::IsEmpty());
  expect_growing(*model);
}

// The process, the store and the model of one thread.
class AgentThread {
 public:
  explicit AgentThread(AgentOptions options)
      : graph_(agent_graph("notes", std::move(options)).value()) {
    runtime->add(graph_);
  }

  Result<RunView> ask(std::string question) {
    StartOptions options;
    options.thread = ThreadId("t");
    return block_on(loop, runtime->start(graph_, question_of(std::move(question)), options));
  }
  void approve_first() {
    auto view = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    auto decided = block_on(
        loop, runtime->decide(default_tenant(), view.approvals.front().interrupt, decision));
    ASSERT_TRUE(decided.ok()) << decided.error().message;
  }

  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  bool fails = false;
  ObservedModel model{[this](const ModelRequest& request) -> Result<ModelReply> {
    if (fails) return error(ErrorCode::invalid, "The model is away.");
    bool is_asked = request.messages.back().role == Role::user;
    int question = static_cast<int>(request.messages.size());
    return is_asked ? calls_of(question, 4) : answer_of("done");
  }};
  std::unique_ptr<Store> store = open_store("memory:", clock, random).value();
  std::unique_ptr<Runtime> runtime =
      Runtime::open(RuntimeParts{*store, loop, clock, random, model}).value();

 private:
  Graph<AgentState> graph_;
};

AgentOptions with_approvals() {
  AgentOptions options;
  options.tools = {note_tool(ToolApproval::always)};
  return options;
}

TEST(AgentRequests, AreValidAfterACancelWithAnyNumberOfDecidedCalls) {
  for (int decided = 0; decided < 4; ++decided) {
    AgentThread thread(with_approvals());
    ASSERT_TRUE(thread.ask("First?").ok());
    for (int i = 0; i < decided; ++i) thread.approve_first();
    auto cancelled =
        block_on(thread.loop, thread.runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
    ASSERT_TRUE(cancelled.ok());
    ASSERT_TRUE(thread.ask("Second?").ok());
    EXPECT_EQ(thread.model.bodies["openai"].size(), 2u);
    EXPECT_THAT(thread.model.faults, ::testing::IsEmpty()) << decided;
    expect_growing(thread.model);
  }
}

TEST(AgentRequests, AreValidAfterAnExpiry) {
  AgentThread thread(with_approvals());
  ASSERT_TRUE(thread.ask("First?").ok());
  thread.approve_first();
  thread.clock.move(std::chrono::hours(25));
  block_on(thread.loop, thread.runtime->process_due(default_tenant())).value();
  ASSERT_TRUE(thread.ask("Second?").ok());
  EXPECT_EQ(thread.model.bodies["openai"].size(), 3u);
  EXPECT_THAT(thread.model.faults, ::testing::IsEmpty());
  expect_growing(thread.model);
}

TEST(AgentRequests, AreValidAfterAFailure) {
  AgentThread thread(with_approvals());
  thread.fails = true;
  ASSERT_TRUE(thread.ask("First?").ok());
  thread.fails = false;
  ASSERT_TRUE(thread.ask("Second?").ok());
  EXPECT_THAT(thread.model.faults, ::testing::IsEmpty());
  expect_growing(thread.model);
}

TEST(AgentRequests, OfAnotherPromptAreAnEventWithItsFirstByte) {
  auto events_of = [](const AgentState& before, AgentOptions options) {
    auto model =
        std::make_shared<ObservedModel>([](const ModelRequest&) { return answer_of("done"); });
    testing::World world;
    world.model(model);
    return world.run(agent_graph("notes", std::move(options)), before).approve_all().events();
  };
  AgentState earlier = question_of("Again?");
  earlier.head = R"({"prompt":"You keep notes.","tools":[]})";
  AgentOptions options;
  options.prompt = "You lose notes.";
  std::string changed;
  for (const EventRow& event : events_of(earlier, options)) {
    if (event.body.find("prompt_changed") != event.body.npos) changed = event.body;
  }
  EXPECT_EQ(changed, R"({"body":{"byte":15,"cause":"prompt"},"name":"prompt_changed"})");
}

}  // namespace
}  // namespace belay
