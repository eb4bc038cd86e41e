// A first agent: writes a mail, asks a person, sends it. The process that asks ends; another one
// takes the answer. Run it twice to see the second half: mail STORE ask, mail STORE approve.

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

// Stands for a language model, so that the example needs none.
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
  context.outcome("sent");
  return unchanged<Mail>();
}

Result<Graph<Mail>> mail_graph() {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", write).retry({.attempts = 3, .base = 500ms});
  graph.approval("review", &Mail::draft, {.question = "Send this mail?", .expires = 24h})
      .approved("send")
      .rejected("write");
  graph.node("send", send);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

Task<Result<RunView>> ask_or_approve(Runtime& runtime, const Graph<Mail>& graph, bool approve) {
  Mail mail;
  mail.topic = "the outage";
  StartOptions options;
  options.thread = ThreadId("first");
  auto view = co_await runtime.start(graph, mail, options);
  if (!view.ok() || !approve || !view->approval) co_return std::move(view);
  Decision decision;
  decision.approved = true;
  decision.decided_by = "you";
  InterruptId question = view->approval->interrupt;
  auto answer = co_await runtime.decide(default_tenant(), question, decision);
  if (!answer.ok()) co_return std::move(answer).error();
  co_return std::move(answer->view);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: mail sqlite:PATH ask|approve\n");
    return 2;
  }
  auto clock = system_clock();
  auto random = system_random();
  auto loop = make_event_loop();
  Clerk clerk;
  auto store = open_store(argv[1], *clock, *random);
  auto graph = mail_graph();
  if (!store.ok() || !graph.ok()) {
    const Error& why = store.ok() ? graph.error() : store.error();
    std::fprintf(stderr, "%s\n", why.message.c_str());
    return 1;
  }
  auto runtime = Runtime::open({**store, *loop, *clock, *random, clerk});
  if (!runtime.ok()) {
    std::fprintf(stderr, "%s\n", runtime.error().message.c_str());
    return 1;
  }
  (*runtime)->add(*graph);
  auto view = block_on(*loop, ask_or_approve(**runtime, *graph, argv[2] == std::string("approve")));
  if (!view.ok()) {
    std::fprintf(stderr, "%s\n", view.error().message.c_str());
    return 1;
  }
  std::printf("%s after %llu commits\n", std::string(name_of(view->row.status)).c_str(),
              static_cast<unsigned long long>(view->row.seq));
  if (view->approval) {
    std::printf("%s\n%s\n", view->approval->question.c_str(),
                to_json(view->state["draft"]).c_str());
  }
}
