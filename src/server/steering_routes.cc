// Routes of a run in progress: its steering messages (service.h), and its waits (service/why.h).

#include "server/body.h"
#include "server/openapi.h"
#include "server/routes.h"
#include "service/steering.h"

namespace belay::server {
// Not in the unnamed namespace, because the codec reads the names of its members.
struct SteerBody {
  std::string text;
  std::optional<std::string> use;
};

namespace {

Route steer_run() {
  Route route = route_of("POST", "/api/threads/{threadId}/steering", "steerRun",
                         "A message to the thread's current run, which an agent uses once");
  route.permission = Permission::run;
  route.parameters = {idempotency_key_parameter(
      "Names the message: a repeated request returns the message of the first")};
  route.body = body_schema<SteerBody>({"text"});
  refer_to_names(route.body, "use", "SteeringUse");
  route.answers = {{202, "The message is durable", "SteeringMessage"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(SteerBody body, read_body<SteerBody>(call));
    Steer message;
    message.text = std::move(body.text);
    message.by = call.who.user.text;
    message.id = std::string(call.request.header("Idempotency-Key"));
    if (body.use) {
      auto use = steering_use_named(*body.use);
      if (!use) {
        co_return error(ErrorCode::invalid, "\"use\" must be next_call or after_answer.");
      }
      message.use = *use;
    }
    BELAY_CO_TRY(SteeringMessage accepted,
                 co_await call.service.steer(call.who, thread_in(call), std::move(message)));
    Reply reply = reply_with(steering_document(accepted));
    reply.status = 202;
    co_return std::move(reply);
  };
  return route;
}

Route list_steering() {
  Route route = route_of("GET", "/api/threads/{threadId}/steering", "listSteering",
                         "Steering messages of the thread's runs, oldest first");
  route.is_of_store = true;
  route.answers = {{200, "The messages; those that wait have not been used", "SteeringList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(auto messages, co_await call.service.steering(call.who, thread_in(call)));
    Value::Array documents;
    for (const SteeringMessage& message : messages) {
      documents.push_back(steering_document(message));
    }
    co_return reply_with(Value::object({{"messages", std::move(documents)}}));
  };
  return route;
}

// Not kept: the waits depend on the time, and on the processes that are alive.
Route explain_wait() {
  Route route = route_of("GET", "/api/threads/{threadId}/why", "explainWait",
                         "The causes for which the thread's current run does not advance");
  route.parameters = {run_parameter()};
  route.answers = {{200, "The causes, the first of which is `cause`", "Why"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(std::optional<RunId> run, named_run_in(call));
    BELAY_CO_TRY(Value document, co_await call.service.why(call.who, thread_in(call), run));
    co_return reply_with(std::move(document));
  };
  return route;
}

}  // namespace

std::vector<Route> steering_routes(ApiContext&) {
  std::vector<Route> routes;
  routes.push_back(steer_run());
  routes.push_back(list_steering());
  routes.push_back(explain_wait());
  return routes;
}

}  // namespace belay::server
