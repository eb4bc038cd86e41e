// Crashes an agent at every step, in a test: before and after each commit, and while nodes execute.
// The same loop detects an agent that repeats an effect.
//
//     $ 11_testing

#include <belay/testing.h>
#include <belay/belay.hpp>
#include <iostream>
#include <string>

using namespace belay;

struct Mail {
  std::string topic{};
  std::string draft{};
};

Task<Update<Mail>> write(const Mail& mail, Context& context) {
  auto draft = (co_await context.model().complete("Write about " + mail.topic)).value();
  co_return set(&Mail::draft, draft);
}

using Sending = std::function<Update<Mail>(const Mail&, Context&)>;

Result<Graph<Mail>> mail_graph(Sending send) {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", write);
  graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
      .approved("send")
      .rejected("write");
  graph.node("send", std::move(send));
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

Update<Mail> send(const Mail&, Context& context) {
  context.keyed_effect("smtp", [] { return std::string("delivered"); });
  return unchanged<Mail>();
}

int main() {
  auto world = testing::World{}.model(testing::replies("Dear all, ..."));
  const Mail outage{.topic = "the outage", .draft = {}};

  auto baseline = world.run(mail_graph(send), outage).approve_all();
  int sound = 0;
  for (const auto& crash : baseline.crash_points()) {
    auto crashed = world.run(mail_graph(send), outage).crash_at(crash).approve_all();
    bool is_same =
        crashed.ok() && crashed.state() == baseline.state() && crashed.effects("smtp") == 1;
    if (is_same) ++sound;
  }
  std::cout << "once(): " << sound << " of " << baseline.crash_points().size()
            << " crashes survived\n";

  // Delivers mails directly and not as an effect: the journal does not record them.
  int delivered = 0;
  auto careless = mail_graph([&](const Mail&, Context&) {
    ++delivered;
    return unchanged<Mail>();
  });
  for (const auto& crash : baseline.crash_points()) {
    delivered = 0;
    (void)world.run(careless, outage).crash_at(crash).approve_all();
    if (delivered > 1) std::cout << "careless: two mails, by a crash " << crash << "\n";
  }
}
