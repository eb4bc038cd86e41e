// A first agent: writes a mail, asks for an approval, sends the mail. The process that asks ends;
// another process records the decision:
//
//     mail run --thread first --input topic="the outage"
//     mail approvals approve first

#include <belay/belay.hpp>
#include <cstdio>
#include <string>

using namespace belay;
using namespace std::chrono_literals;

struct Mail {
  std::string topic{};
  std::string draft{};
  std::vector<std::string> earlier_drafts{};
};

// Replaces a language model, so that the example needs none.
class Clerk final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    ModelReply reply;
    reply.text = "Dear all, about this: " + request.messages.at(0).text;
    reply.provider = "clerk";
    co_return std::move(reply);
  }
};

Task<Update<Mail>> write(const Mail& mail, Context& context) {
  auto draft = (co_await context.model().complete(mail.topic)).value();
  co_return set(&Mail::draft, draft).append(&Mail::earlier_drafts, mail.draft);
}

Update<Mail> send(const Mail& mail, Context& context) {
  std::printf("sending: %s\n", mail.draft.c_str());
  std::fflush(stdout);
  context.outcome("sent");
  return unchanged<Mail>();
}

Result<Graph<Mail>> mail_graph() {
  GraphBuilder<Mail> graph{"mail"};
  graph.one_run_per_thread();  // a thread is one mail: its start can be repeated
  graph.node("write", write).retry({.attempts = 3, .base = 500ms});
  graph.approval("review", &Mail::draft, {.question = "Send this mail?", .expires = 24h})
      .approved("send")
      .rejected("write");
  graph.node("send", send);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

int main(int argc, char** argv) {
  MainOptions options;
  options.about = "mail - writes a mail, asks a person, sends it.";
  options.model = std::make_shared<Clerk>();
  return belay::main(argc, argv, options, mail_graph());
}
