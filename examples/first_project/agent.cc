#include "agent.h"

using namespace belay;

struct Order {
  std::string number{};
  static void describe(Described<Order>& arguments) {
    arguments.member(&Order::number).text("The number of the order").length(1, 20);
  }
};

// Reads only: a crash may repeat it.
Tool find_order() {
  return make_tool<Order>(
      {.name = "find_order", .description = "Finds an order.", .effect = ToolEffect::reads},
      [](const Order& order, ToolContext&) -> Result<std::string> {
        if (order.number != "A-17") return error(ErrorCode::not_found, "There is no such order.");
        return "Order " + order.number + ": a lamp, 40 euros, delivered yesterday";
      });
}

// Pays money: each call waits for an approval. A payment service would receive call.key(), which is
// the same for all attempts of a call, and ignore the second of two requests with one key.
Tool refund() {
  return make_tool<Order>({.name = "refund",
                           .description = "Refunds the price of an order.",
                           .effect = ToolEffect::keyed,
                           .approval = ToolApproval::always},
                          [](const Order& order, ToolContext& call) -> Result<std::string> {
                            if (call.key().empty()) return error(ErrorCode::invalid, "No key.");
                            return "Order " + order.number + " is refunded.";
                          });
}

Result<Graph<AgentState>> support_agent() {
  AgentOptions options;
  options.prompt =
      "You answer questions about orders. Find the order first. Refund it if it arrived broken.";
  options.tools = {find_order(), refund()};
  return agent_graph("helpdesk", options);
}
