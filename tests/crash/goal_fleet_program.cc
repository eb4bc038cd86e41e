// The program of the goal fleet: goals whose steps call tools of every class and an agent, with a
// model in the process whose reply is a function of the request. The receivers are files in which
// each call is a line, "thread key". The journal has the requests of the model and the calls of
// tools in their order, "thread step"; steps only grow. See receiver_file.h.

#include <belay/belay.hpp>

#include "agents/goals/module.h"
#include "agents/goals/planner.h"
#include "tests/crash/receiver_file.h"

namespace {

using namespace belay;
using crash::append_line;
using crash::paced;
using namespace std::chrono_literals;

constexpr std::int64_t kSteps = 3;  // with calls
constexpr const char* kGuide = "guide";

struct ItemArguments {
  int step = 0;
};

// A step of the journal: requests of the model have even numbers, the calls that follow odd ones.
void note_step(const std::string& thread, std::int64_t step) {
  append_line("journal", thread + " " + std::to_string(step));
}

Tool fleet_tool(const std::string& name, ToolOptions options) {
  options.name = name;
  options.description = "Counts a call.";
  return make_tool<ItemArguments>(
      std::move(options),
      [name](const ItemArguments& arguments, ToolContext& call) -> Task<Result<std::string>> {
        std::string thread = call.node().thread().text;
        std::string key = call.key();
        std::string text = name + " " + std::to_string(arguments.step);
        int step = 2 * arguments.step + 1;
        co_await sleep_for(paced(3ms));
        note_step(thread, step);
        append_line(name, thread + " " + key);
        co_await sleep_for(paced(4ms));
        co_return text;
      });
}

ToolCall call_of(const std::string& tool, std::int64_t step) {
  return {tool + "-" + std::to_string(step), tool, Value::object({{"step", step}})};
}

// The agent that a goal calls like a tool. Its question is "THREAD STEP".
SubAgent guide() {
  AgentOptions options;
  options.prompt = "You guide a parcel.";
  options.tools = {fleet_tool("ask", {.effect = ToolEffect::keyed})};
  return sub_agent(kGuide, "Guides a parcel.", std::move(options));
}

class FleetPlanner final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ModelReply reply;
    reply.provider = "script";
    reply.usage = Usage{1, 1};
    if (request.purpose == goals::kPlanPurpose) {
      plan(request, reply);
    } else if (request.purpose == goals::kSummaryPurpose) {
      note_step(*request.input["objective"].as_string(), 2 * steps_of(request) + 1);
      reply.text = "Guided.";
    } else {
      answer(request, reply);
    }
    if (!reply.tool_calls.empty()) reply.stop_reason = StopReason::tool_calls;
    co_await sleep_for(paced(3ms));
    co_return reply;
  }

 private:
  static std::int64_t steps_of(const ModelRequest& request) {
    return request.input["steps"].as_int().value_or(0);
  }

  static void plan(const ModelRequest& request, ModelReply& reply) {
    std::string thread = *request.input["objective"].as_string();
    std::int64_t step = steps_of(request) + 1;
    note_step(thread, 2 * step);
    reply.text = "Step " + std::to_string(step);
    if (step > kSteps) return;
    for (const char* tool : {"look", "charge", "send"}) {
      reply.tool_calls.push_back(call_of(tool, step));
    }
    Value question = Value::object({{"question", thread + " " + std::to_string(step)}});
    reply.tool_calls.push_back({"guide-" + std::to_string(step), kGuide, std::move(question)});
  }

  static void answer(const ModelRequest& request, ModelReply& reply) {
    std::string question;
    std::string last;
    for (const Message& message : request.messages) {
      if (message.role == Role::user && question.empty()) question = message.text;
      if (message.role == Role::tool) last = message.text;
    }
    std::size_t space = question.rfind(' ');
    std::int64_t step = *parse_json(question.substr(space + 1))->as_int();
    note_step(question.substr(0, space), 2 * step + 1);
    if (last.empty()) {
      reply.tool_calls.push_back(call_of("ask", step));
    } else {
      reply.text = "guided by " + last;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "fleet";
  options.model = std::make_shared<FleetPlanner>();
  Module tools;
  tools.name = "tools";
  tools.tools = {fleet_tool("look", {.effect = ToolEffect::reads}),
                 fleet_tool("charge", {.effect = ToolEffect::keyed}),
                 fleet_tool("send", {.effect = ToolEffect::unkeyed})};
  return belay::main(argc, argv, options, {std::move(tools), goals::module({guide()})});
}
