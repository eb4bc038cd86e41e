// The program of the agent fleet: an agent with tools of every class, and a model in the process
// whose reply is a function of the conversation. The receivers are files in which each call is a
// line, "thread key". The journal has the requests of the model and the calls of tools in their
// order, "thread step"; steps only grow. Conversations that a provider would reject are lines of
// the file "invalid".
//
// See receiver_file.h. FLEET_DEFECT is a deliberate error, which the campaign must detect:
//   send_again   the tools with unkeyed effects are declared as reads
//   other_keys   each attempt of a call has another key
//   lost_result  the model's conversation lacks a result
//   forgetful    the model calls the tools of the first round again in each round

#include <unistd.h>

#include <array>
#include <belay/belay.hpp>

#include "models/protocol.h"
#include "tests/crash/receiver_file.h"
#include "tests/support/history_rules.h"

namespace {

using namespace belay;
using crash::append_line;
using crash::paced;
using namespace std::chrono_literals;

constexpr std::size_t kRounds = 3;
constexpr std::size_t kCallsOfRound = 4;

bool has_defect(std::string_view name) { return crash::variable("FLEET_DEFECT") == name; }

struct ItemArguments {
  int round = 0;
  int item = 0;
};

Tool fleet_tool(const std::string& name, ToolOptions options) {
  options.name = name;
  options.description = "Counts a call.";
  if (has_defect("send_again") && options.effect == ToolEffect::unkeyed) {
    options.effect = ToolEffect::reads;
  }
  return make_tool<ItemArguments>(
      std::move(options),
      [name](const ItemArguments& arguments, ToolContext& call) -> Task<Result<std::string>> {
        std::string thread = call.node().thread().text;
        std::string key = call.key();
        if (has_defect("other_keys")) {
          key += std::to_string(::getpid()) + "-" + std::to_string(call.node().attempt());
        }
        int step = 2 * arguments.round + 1;
        std::string text = name + " " + std::to_string(arguments.item);
        co_await sleep_for(paced(3ms));
        append_line("journal", thread + " " + std::to_string(step));
        append_line(name, thread + " " + key);
        co_await sleep_for(paced(4ms));
        co_return text;
      });
}

class FleetModel final : public Model {
 public:
  FleetModel() {
    models::Server server{"", "m", "http://127.0.0.1:1", "", std::nullopt, std::nullopt};
    protocols_.push_back(models::openai_protocol(server));
    protocols_.push_back(models::anthropic_protocol(server));
    protocols_.push_back(models::ollama_protocol(server));
  }

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    std::size_t results = 0;
    for (const Message& message : request.messages) results += message.role == Role::tool;
    std::string thread = request.messages.at(1).text;
    std::size_t round = results / kCallsOfRound;
    append_line("journal", thread + " " + std::to_string(2 * round));
    if (has_defect("lost_result") && results > 0) request.messages.pop_back();
    check(request, thread);
    co_await sleep_for(paced(3ms));
    ModelReply reply;
    reply.provider = "script";
    reply.usage = Usage{1, 1};
    if (round >= kRounds) {
      reply.text = "done with " + thread;
      co_return reply;
    }
    if (has_defect("forgetful")) round = 0;
    reply.stop_reason = StopReason::tool_calls;
    auto add = [&](const std::string& tool, std::size_t item) {
      std::string id = tool + "-" + std::to_string(round) + "-" + std::to_string(item);
      Value arguments = Value::object(
          {{"item", static_cast<std::int64_t>(item)}, {"round", static_cast<std::int64_t>(round)}});
      reply.tool_calls.push_back({std::move(id), tool, std::move(arguments)});
    };
    add("look", 1);
    add("look", 2);
    add("charge", 3);
    add("send", 4);
    if (round + 1 == kRounds) add("release", 5);
    co_return reply;
  }

 private:
  void check(const ModelRequest& request, const std::string& thread) const {
    constexpr std::array names = {"openai", "anthropic", "ollama"};
    for (std::size_t i = 0; i < protocols_.size(); ++i) {
      auto encoded = protocols_[i]->encode(request);
      if (!encoded.ok()) append_line("invalid", thread + ": " + encoded.error().message);
      if (!encoded.ok()) continue;
      auto fault = providers::history_fault(parse_json(encoded->body).value(), names.at(i));
      if (fault) append_line("invalid", thread + ": " + names.at(i) + ": " + *fault);
    }
  }

  std::vector<std::unique_ptr<models::Protocol>> protocols_;
};

Result<Graph<AgentState>> fleet_agent() {
  AgentOptions options;
  options.prompt = "You handle a parcel.";
  options.tools = {
      fleet_tool("look", {.effect = ToolEffect::reads}),
      fleet_tool("charge", {.effect = ToolEffect::keyed}),
      fleet_tool("send", {.effect = ToolEffect::unkeyed}),
      fleet_tool("release", {.effect = ToolEffect::unkeyed, .approval = ToolApproval::always})};
  return agent_graph("parcel_agent", std::move(options));
}

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "fleet";
  options.model = std::make_shared<FleetModel>();
  return belay::main(argc, argv, options, fleet_agent());
}
