// The program of the fleet campaign: an agent with parallel branches, retries, an approval, and
// effects of every class. The receivers are files in which each call is a line, "thread key".
// See receiver_file.h.

#include <belay/belay.hpp>
#include <fstream>

#include "tests/crash/receiver_file.h"

namespace {

using namespace belay;
using crash::paced;
using namespace std::chrono_literals;

struct Parcel {
  int items = 6;
  std::vector<int> weights{};
  int total = 0;
  std::string receipt{};
  int mails = 0;
  std::string label{};
};

struct Label {
  static constexpr std::string_view collection = "labels";
  std::string parcel{};
  int total = 0;
  std::string key() const { return parcel; }
  static auto indexed() { return std::tuple{&Label::total}; }
};

void call(std::string_view name, const Context& context) {
  crash::append_line(std::string(name),
                     context.thread().text + " " + context.idempotency_key(name));
}

std::optional<int> find_call(std::string_view name, const std::string& key) {
  std::ifstream calls{crash::receiver_file(std::string(name))};
  for (std::string thread, found; calls >> thread >> found;) {
    if (found == key) return 1;
  }
  return std::nullopt;
}

Result<Update<Parcel>> pick(const Parcel&, Context& context) {
  if (context.attempt() == 1) return error(ErrorCode::unavailable, "The shelf is busy.");
  return unchanged<Parcel>();
}

constexpr auto kBesides = {"charge", "mail_retry", "mail_skip", "mail_probe", "mail_ask"};

std::vector<Send> pack(const Parcel& parcel) {
  std::vector<Send> sends;
  for (const char* node : kBesides) sends.push_back(send_to(node, 0));
  for (int item = 1; item <= parcel.items; ++item) sends.push_back(send_to("weigh", item));
  return sends;
}

Task<Update<Parcel>> weigh(const Parcel&, Context& context) {
  int item = context.input<int>();
  auto use_scale = [item, &context]() -> Task<int> {
    co_await sleep_for(paced(2ms));
    call("scale", context);
    co_await sleep_for(paced(2ms));
    co_return item * 10;
  };
  int weight = co_await context.keyed_effect("scale", use_scale);
  co_return append(&Parcel::weights, item).add(&Parcel::total, weight);
}

Task<Update<Parcel>> charge(const Parcel&, Context& context) {
  auto pay = [&context]() -> Task<std::string> {
    co_await sleep_for(paced(3ms));
    call("charge", context);
    co_await sleep_for(paced(3ms));
    co_return "paid";
  };
  std::string receipt = co_await context.keyed_effect("charge", pay);
  co_return set(&Parcel::receipt, receipt);
}

// Returns a node with an unkeyed effect under one policy; the receiver has its name.
auto mail(std::string name, WhenUncertain policy) {
  return [name, policy](const Parcel&, Context& context) -> Task<Update<Parcel>> {
    EffectOptions options;
    options.when_uncertain = policy;
    auto send_mail = [name, &context]() -> Task<int> {
      co_await sleep_for(paced(2ms));
      call(name, context);
      co_await sleep_for(paced(4ms));
      co_return 1;
    };
    Probe<int> look = [name, &context]() -> Result<std::optional<int>> {
      return find_call(name, context.idempotency_key(name));
    };
    if (policy != WhenUncertain::probe) look = nullptr;
    co_await context.unkeyed_effect(name, options, send_mail, std::move(look));
    co_return add(&Parcel::mails, 1);
  };
}

Task<Result<Update<Parcel>>> ship(const Parcel& parcel, Context& context) {
  co_await sleep_for(paced(2ms));
  if (context.attempt() == 1) co_return error(ErrorCode::unavailable, "The printer is busy.");
  context.save(Label{context.thread().text, parcel.total});
  context.publish("shipped", Value(parcel.total));
  context.outcome("shipped");
  co_return set(&Parcel::label, "label of " + context.thread().text);
}

Result<Graph<Parcel>> parcel_graph() {
  RetryPolicy patient{.attempts = 10, .base = 20ms};
  GraphBuilder<Parcel> graph{"parcel"};
  graph.one_run_per_thread();
  graph.node("pick", pick).retry(patient);
  graph.node("weigh", weigh);
  graph.node("charge", charge);
  graph.node("mail_retry", mail("retry", WhenUncertain::retry));
  graph.node("mail_skip", mail("skip", WhenUncertain::skip));
  graph.node("mail_probe", mail("probe", WhenUncertain::probe));
  graph.node("mail_ask", mail("ask", WhenUncertain::ask));
  graph.approval("release", &Parcel::total, {.question = "Ship it?"})
      .approved("ship")
      .rejected(end);
  graph.node("ship", ship).retry(patient);
  std::vector<std::string_view> all(kBesides.begin(), kBesides.end());
  all.emplace_back("weigh");
  graph.edge(start, "pick").branch("pick", pack, all);
  for (std::string_view node : all) graph.edge(node, "release");
  graph.edge("ship", end);
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "fleet";
  options.collections = {"labels"};
  return belay::main(argc, argv, options, parcel_graph());
}
