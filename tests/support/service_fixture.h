#pragma once
// tests/support/service_fixture.h - ServiceFixture: a test fixture with a service over a store in
// memory, and an agent that uses most features.

#include <gtest/gtest.h>

#include "belay/context.h"
#include "service/local_service.h"
#include "tests/support/principals.h"
#include "tests/support/repeating_store.h"

namespace belay {

struct Order {
  std::string item{};
  int count = 1;
  std::vector<std::string> log{};
};

// Prices an order, requests an approval, and buys. An item called "stone" fails.
inline Graph<Order> order_graph() {
  GraphBuilder<Order> graph{"order"};
  graph.node("price", [](const Order& order, Context& context) -> Result<Update<Order>> {
    if (order.item == "stone") return error(ErrorCode::invalid, "Nobody sells a stone.");
    context.stream("looks for ");
    context.stream(order.item);
    context.emit("priced", Value(12.5));
    context.publish("parcels", Value(order.item));
    auto reserved = context.unkeyed_effect("reserve", {}, [] { return 7; });
    return append(&Order::log, "priced as " + std::to_string(reserved.value_or(0)));
  });
  graph.approval("confirm", &Order::item, {.question = "Buy it?"}).approved("buy").rejected(end);
  graph.node("buy", [](const Order& order, Context& context) {
    context.outcome("bought");
    return append(&Order::log, "bought " + order.item);
  });
  graph.edge(start, "price").edge("price", "confirm").edge("buy", end);
  return std::move(graph).build().value();
}

class NoModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    co_return error(ErrorCode::invalid, "There is no model here.");
  }
};

class ServiceFixture : public ::testing::Test {
 protected:
  ServiceFixture() {
    RuntimeParts parts{*store_, *loop_, *clock_, *random_, model_};
    runtime_ = Runtime::open(std::move(parts)).value();
    Graph<Order> graph = order_graph();
    runtime_->add(graph);
    LocalServiceParts service{
        *store_, *store_, *runtime_, *loop_, *clock_, *random_, {graph.definition()}, {}, {}};
    service_ = make_local_service(std::move(service));
  }

  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop_, std::move(task));
  }
  static StartRun order(std::string thread, std::string item) {
    StartRun wanted;
    wanted.agent = "order";
    wanted.thread = ThreadId(std::move(thread));
    wanted.input = Value::object({{"item", std::move(item)}});
    return wanted;
  }
  RunView began(std::string thread, std::string item) {
    return wait(service_->start(local_program, order(std::move(thread), std::move(item)))).value();
  }
  Result<DecisionResult> decided(const std::string& thread, bool approved, std::string comment = "",
                                 std::optional<Value> edited = std::nullopt) {
    auto row = wait(service_->approval(local_program, thread, Whose()));
    if (!row.ok()) return row.error();
    Decision decision;
    decision.approved = approved;
    decision.decided_by = "ana";
    decision.comment = std::move(comment);
    decision.edited = std::move(edited);
    return wait(service_->decide(local_program, row->interrupt, std::move(decision)));
  }

  std::unique_ptr<Clock> clock_ = system_clock();
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<RepeatingStore> store_ =
      std::make_unique<RepeatingStore>(open_memory_store(*clock_, *random_));
  NoModel model_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Service> service_;
};

}  // namespace belay
