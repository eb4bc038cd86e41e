// Routes of the outbox: messages and their deliveries.

#include "server/body.h"
#include "server/routes.h"

namespace belay::server {
namespace {

constexpr std::int64_t kMessagesDefault = 100;

Route list_messages() {
  Route route =
      route_of("GET", "/api/outbox", "listMessages", "Undelivered messages, oldest first");
  route.parameters = {query_parameter("threadId", "Only messages of this thread's latest run",
                                      Value::object({{"type", "string"}})),
                      query_parameter("all", "Include delivered messages",
                                      Value::object({{"type", "boolean"}, {"default", false}})),
                      named_user_parameter(), limit_parameter(kMessagesDefault, kListMax)};
  route.answers = {{200, "Messages, and the number of further ones", "MessageList"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    MessagePage page;
    page.all = bool_parameter(call.query, "all");
    BELAY_CO_TRY(std::int64_t limit,
                 int_parameter(call.query, "limit", kMessagesDefault, 1, kListMax));
    page.limit = static_cast<std::size_t>(limit);
    if (auto found = call.query.find("threadId"); found != call.query.end()) {
      page.thread = ThreadId(found->second);
    }
    BELAY_CO_TRY(page.user, named_user_in(call));
    BELAY_CO_TRY(Messages found, co_await call.service.messages(call.who, std::move(page)));
    co_return reply_with(messages_document(found));
  };
  return route;
}

Route move_message(bool gives_up) {
  Route route = route_of(
      "POST", std::string("/api/outbox/{runId}/{seq}/{index}/") + (gives_up ? "give-up" : "retry"),
      gives_up ? "giveUpMessage" : "retryMessage",
      gives_up ? "Discard of a waiting message" : "Immediate retry of a message");
  route.permission = Permission::administer;
  route.body = empty_body_schema();
  route.answers = {{200, "Its current status", "Message"}};
  route.handle = [](Call call) -> Task<Result<Reply>> {
    bool is_over = call.request.raw_path.ends_with("/give-up");
    std::string id =
        call.path.at("runId") + "/" + call.path.at("seq") + "/" + call.path.at("index");
    auto task = is_over ? call.service.give_up_message(call.who, id)
                        : call.service.retry_message(call.who, id);
    auto moved = co_await std::move(task);
    if (!moved.ok()) co_return std::move(moved).error();
    co_return reply_with(
        Value::object({{"id", std::move(id)}, {"status", is_over ? "given_up" : "waiting"}}));
  };
  return route;
}

}  // namespace

std::vector<Route> outbox_routes(ApiContext&) {
  std::vector<Route> routes;
  routes.push_back(list_messages());
  routes.push_back(move_message(false));
  routes.push_back(move_message(true));
  return routes;
}

}  // namespace belay::server
