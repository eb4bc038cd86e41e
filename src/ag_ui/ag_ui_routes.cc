// The routes of AG-UI: one address for each agent, and one for each run of a client.

#include "ag_ui/ag_ui_endpoint.h"
#include "ag_ui/ag_ui_options.h"
#include "server/body.h"
#include "server/problem.h"

namespace belay::ag_ui {
namespace {

using server::Call;
using server::Reply;
using server::Route;

bool starts_anew(const Call& call) {
  const Value::Array* resume = call.body["resume"].as_array();
  return !resume || resume->empty();
}

// Members that are not known are not an error: a newer client sends more.
std::optional<Reply> read_input(Call& call) {
  Reply reply;
  if (!server::is_json_type(call.request.header("Content-Type"))) {
    constexpr int unsupported_type = 415;
    std::string detail = "The body must be application/json.";
    server::take_problem(server::problem(unsupported_type, "http", std::move(detail)), reply);
    return reply;
  }
  auto document = parse_json(call.request.body);
  if (!document.ok()) {
    constexpr int bad_request = 400;
    server::take_problem(server::problem(bad_request, "invalid", document.error().message), reply);
    return reply;
  }
  call.request.body = std::string();  // frees its memory while the run is awaited
  call.body = *std::move(document);
  return std::nullopt;
}

Parameter last_event_parameter() {
  Value text = Value::object({{"type", "string"}});
  Parameter last = query_parameter(
      "Last-Event-ID", "Id of the last received event: the stream continues after it", text);
  last.in = Parameter::In::header;
  return last;
}

Route run_route(const std::shared_ptr<AgUiEndpoint>& endpoint) {
  Route route = server::route_of("POST", "/ag-ui/{agent}", "runAgUi",
                                 "A run of the AG-UI protocol: a start, answers to interrupts, or "
                                 "the same request again");
  route.permission = Permission::run;
  route.parameters = {last_event_parameter()};
  route.body = run_input_schema();
  route.answers = {{200, "The events of the run", "", "text/event-stream"}};
  route.read = read_input;
  route.begins_run_by = starts_anew;
  route.finds_run = finds_named_run;
  route.handle = [endpoint](Call call) { return endpoint->run(std::move(call)); };
  return route;
}

Route rejoin_route(const std::shared_ptr<AgUiEndpoint>& endpoint) {
  Route route = server::route_of("GET", "/ag-ui/{agent}/threads/{threadId}/runs/{runId}",
                                 "streamAgUiRun", "The events of a run of AG-UI");
  route.parameters = {last_event_parameter()};
  route.answers = {{200, "The events of the run", "", "text/event-stream"}};
  route.handle = [endpoint](Call call) { return endpoint->rejoin(std::move(call)); };
  return route;
}

}  // namespace

std::vector<Route> ag_ui_routes(server::ApiContext& world, AgUiOptions options) {
  auto endpoint = std::make_shared<AgUiEndpoint>(world, std::move(options));
  std::vector<Route> routes;
  routes.push_back(run_route(endpoint));
  routes.push_back(rejoin_route(endpoint));
  return routes;
}

std::vector<std::string> collections() { return {std::string(AgUiRun::collection)}; }

}  // namespace belay::ag_ui
