#include "service/run_request.h"

#include <algorithm>

#include "engine/run_options.h"

namespace belay {
namespace {

Result<const GraphDefinition*> find_graph(
    const std::vector<std::shared_ptr<const GraphDefinition>>& graphs, const std::string& name) {
  for (const auto& graph : graphs) {
    if (graph->name == name) return graph.get();
  }
  return error(ErrorCode::not_found, "Unknown agent \"" + name + "\".");
}

Result<Done> check_members(const GraphDefinition& graph, const Value& input) {
  const Value::Object* members = input.as_object();
  if (!members) {
    return error(ErrorCode::invalid, "Input of agent \"" + graph.name + "\" is of kind " +
                                         std::string(input.kind()) + ", expected an object.");
  }
  for (const auto& [name, member] : *members) {
    bool is_known = std::any_of(
        graph.state->channels.begin(), graph.state->channels.end(),
        [&wanted = name](const ChannelType& channel) { return channel.name == wanted; });
    if (!is_known) {
      return error(ErrorCode::invalid,
                   "Input of agent \"" + graph.name + "\" has no member \"" + name + "\".");
    }
  }
  return Done{};
}

}  // namespace

ThreadId thread_of_key(const UserId& user, std::string_view key) {
  constexpr std::size_t digits = 32;
  std::string text = user.text + '\0' + std::string(key);
  return ThreadId(std::string(kThreadOfKey) + to_hex(sha256(text)).substr(0, digits));
}

Result<RunRequest> run_request(const std::vector<std::shared_ptr<const GraphDefinition>>& graphs,
                               const TenantId& tenant, StartRun wanted) {
  RunRequest request;
  BELAY_TRY(const GraphDefinition* graph, find_graph(graphs, wanted.agent));
  BELAY_CHECK(check_members(*graph, wanted.input));
  if (wanted.run.breakpoints) {
    BELAY_CHECK(engine::check_breakpoints(*graph, *wanted.run.breakpoints));
  }
  BELAY_TRY(request.state, state_from(*graph->state, wanted.input));
  request.graph = graph->name;
  request.queued = wanted.queued;
  request.delay = wanted.delay;
  request.options = static_cast<StartOptions&&>(wanted);
  request.options.tenant = tenant;
  if (request.options.edit) request.options.edit->values = std::move(wanted.input);
  // A graph of one run per thread finds its run by the thread: the key has already chosen it.
  if (graph->one_run_per_thread) request.options.idempotency_key.clear();
  return request;
}

}  // namespace belay
