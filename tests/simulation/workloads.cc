// Long on purpose: the agents, each with the check of its result.

#include "tests/simulation/workloads.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/simulation/goal_workload.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int kItems = 5;
constexpr std::int64_t kBudget = 3'000;  // tokens
const RetryPolicy kPatient{.attempts = 500, .base = 100ms, .cap = 4s};

struct Label {
  static constexpr std::string_view collection = kLabels;
  std::string name{};
  std::int64_t total = 0;
  std::string key() const { return name; }
  static auto indexed() { return std::tuple{&Label::total}; }
};

// The access of a node to the world outside.
struct Hands {
  Outside* outside;
  ProcessId process;
  Task<Result<std::int64_t>> call(Context& context, std::string name) const {
    std::string key = context.idempotency_key(name);
    return outside->call(process, context.thread().text, std::move(name), std::move(key));
  }
  // With a key, the call can be repeated if its outcome is unknown.
  Task<Result<std::int64_t>> call_keyed(Context& context, std::string name) const {
    auto called = co_await call(context, std::move(name));
    if (called.ok()) co_return *called;
    co_return error(ErrorCode::unavailable, called.error().message);
  }
};

std::string told(const RunView& view) {
  return std::string(name_of(view.row.status)) + " " + view.row.outcome + " " + view.row.error +
         " " + to_json(view.state);
}

// A parcel: parallel branches, effects of every class and policy, an approval that expires.

// Members in another order than that of their names: the stored text has the order of declaration.
struct Weight {
  int item = 0;
  std::int64_t grams = 0;
};

struct Parcel {
  int items = kItems;
  std::vector<Weight> weights{};
  std::int64_t total = 0;
  std::int64_t paid = 0;
  std::int64_t mails = 0;
  std::string label{};
};

constexpr auto kBesides = {"charge", "mail_retry", "mail_skip", "mail_probe", "mail_ask"};

std::vector<Send> pack(const Parcel& parcel) {
  std::vector<Send> sends;
  for (const char* node : kBesides) sends.push_back(send_to(node, 0));
  for (int item = 1; item <= parcel.items; ++item) sends.push_back(send_to("weigh", item));
  return sends;
}

auto weigh(Hands hands) {
  return [hands](const Parcel&, Context& context) -> Task<Update<Parcel>> {
    int item = context.input<int>();
    auto use_scale = [hands, &context] { return hands.call_keyed(context, "scale"); };
    std::int64_t used = co_await context.keyed_effect("scale", use_scale);
    Weight weight{item, used * item * 10};
    co_return append(&Parcel::weights, weight).add(&Parcel::total, weight.grams);
  };
}

auto charge(Hands hands) {
  return [hands](const Parcel&, Context& context) -> Task<Update<Parcel>> {
    auto pay = [hands, &context] { return hands.call_keyed(context, "charge"); };
    std::int64_t paid = co_await context.keyed_effect("charge", pay);
    co_return set(&Parcel::paid, paid);
  };
}

auto mail(Hands hands, std::string name, WhenUncertain policy) {
  return [hands, name, policy](const Parcel&, Context& context) -> Task<Update<Parcel>> {
    EffectOptions options;
    options.when_uncertain = policy;
    auto send_mail = [hands, name, &context] { return hands.call(context, name); };
    Probe<std::int64_t> look = [hands, name, &context] {
      return hands.outside->look(name, context.idempotency_key(name));
    };
    if (policy != WhenUncertain::probe) look = nullptr;
    co_await sleep_for(500ms);  // another process can read the run before the intent is committed
    co_await context.unkeyed_effect(name, options, send_mail, std::move(look));
    co_return add(&Parcel::mails, 1);
  };
}

Task<Result<Update<Parcel>>> ship(const Parcel& parcel, Context& context) {
  co_await sleep_for(800ms);
  if (context.attempt() == 1) co_return error(ErrorCode::unavailable, "The printer is busy.");
  context.save(Label{context.run().text(), parcel.total});
  context.publish("shipped", Value(parcel.total));
  context.outcome("shipped");
  co_return set(&Parcel::label, "labelled");
}

std::shared_ptr<const GraphDefinition> parcel_graph(Outside& outside, ProcessId process) {
  Hands hands{&outside, process};
  GraphBuilder<Parcel> graph{"parcel"};
  graph
      .node("pick",
            [](const Parcel&, Context& context) -> Result<Update<Parcel>> {
              if (context.attempt() == 1)
                return error(ErrorCode::unavailable, "The shelf is busy.");
              return unchanged<Parcel>();
            })
      .retry(kPatient);
  graph.node("weigh", weigh(hands)).retry(kPatient);
  graph.node("charge", charge(hands)).retry(kPatient);
  graph.node("mail_retry", mail(hands, "mail_retry", WhenUncertain::retry)).retry(kPatient);
  graph.node("mail_skip", mail(hands, "mail_skip", WhenUncertain::skip)).retry(kPatient);
  graph.node("mail_probe", mail(hands, "mail_probe", WhenUncertain::probe)).retry(kPatient);
  graph.node("mail_ask", mail(hands, "mail_ask", WhenUncertain::ask)).retry(kPatient);
  ApprovalOptions asked{.question = "Ship it?"};
  asked.expires = 4min;
  graph.approval("release", &Parcel::total, asked).approved("ship").rejected(end);
  graph.node("ship", ship).retry(kPatient);
  std::vector<std::string_view> all(kBesides.begin(), kBesides.end());
  all.emplace_back("weigh");
  graph.edge(start, "pick").branch("pick", pack, all);
  for (std::string_view node : all) graph.edge(node, "release");
  graph.edge("ship", end);
  return std::move(graph).build().value().definition();
}

std::string wrong_parcel(const RunView& view) {
  const Value& state = view.state;
  const Value::Array* weights = state["weights"].as_array();
  bool is_shipped = view.row.outcome == "shipped";
  std::int64_t total = state["total"].as_int().value_or(-1);
  bool is_right = view.row.status == RunStatus::completed && weights && weights->size() == kItems &&
                  state["paid"] == Value(1) && state["mails"] == Value(4) &&
                  state["label"] == Value(is_shipped ? "labelled" : "") && total == 150;
  return is_right ? "" : told(view);
}

// A thinker: repeated model calls on a budget.

struct Thinker {
  int steps = 4;
  int step = 0;
  std::vector<std::string> facts{};
};

Task<Result<Update<Thinker>>> think(const Thinker& thinker, Context& context) {
  Value input = Value::Object{};
  input.as_object()->insert_or_assign("thread", Value(context.thread().text));
  input.as_object()->insert_or_assign("step", Value(thinker.step));
  ModelRequest request("step", {{Role::user, "What next?"}}, Value(), std::move(input));
  request.max_output_tokens = 30;
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  auto answer = parse_json(reply->text);
  if (!answer.ok() || !(*answer)["fact"].as_string()) {
    co_return error(ErrorCode::unavailable, "The model has not said a fact.");
  }
  std::string fact = *(*answer)["fact"].as_string();
  co_return append(&Thinker::facts, fact).add(&Thinker::step, 1);
}

std::shared_ptr<const GraphDefinition> thinker_graph(Outside&, ProcessId) {
  GraphBuilder<Thinker> graph{"thinker"};
  graph.node("think", think).retry(kPatient).timeout(5s);
  graph.node("note", [](const Thinker& thinker, Context& context) {
    context.save(Label{context.run().text(), thinker.step});
    context.outcome("thought");
    return unchanged<Thinker>();
  });
  auto has_more = [](const Thinker& thinker) { return thinker.step < thinker.steps; };
  graph.edge(start, "think").branch("think", has_more, {"note", "think"}).edge("note", end);
  return std::move(graph).build().value().definition();
}

std::string wrong_thinker(const RunView& view) {
  bool is_poor =
      view.row.status == RunStatus::failed && view.row.error.find("budget") != std::string::npos;
  const Value::Array* facts = view.state["facts"].as_array();
  bool is_right = facts != nullptr;
  for (std::size_t i = 0; facts && i < facts->size(); ++i) {
    is_right = is_right && (*facts)[i] == Value("fact " + std::to_string(i));
  }
  if (!is_poor) {
    is_right =
        is_right && view.row.outcome == "thought" && view.state["step"] == view.state["steps"];
  }
  if (!view.spending) return "no spending: " + told(view);
  std::int64_t spent = view.spending->spent.tokens + view.spending->reserved.tokens;
  if (spent > kBudget) return "spent " + std::to_string(spent);
  return is_right ? "" : told(view);
}

// An errand: waits, breakpoints, and questions to two people at the same time.

struct Errand {
  std::string what = "milk";
  std::vector<std::string> said{};
};

auto question(const std::string& name) {
  return [name](const Errand& errand, Context& context) {
    InterruptRequest asked;
    asked.name = name;
    asked.text = "Shall I?";
    asked.payload = Value(errand.what);
    context.interrupt(std::move(asked));
    return append(&Errand::said, name);
  };
}

std::shared_ptr<const GraphDefinition> errand_graph(Outside&, ProcessId) {
  GraphBuilder<Errand> graph{"errand"};
  graph.wait("later", 20s);
  graph.node("left", question("left"));
  graph.node("right", question("right"));
  graph.wait("meanwhile", 35s);
  graph.node("meet", [](const Errand&, Context&) { return append(&Errand::said, "met"); })
      .interrupt_before();
  graph.node("home", [](const Errand&, Context& context) {
    context.outcome("home");
    return append(&Errand::said, "home");
  });
  graph.edge(start, "later").edge("later", "left").edge("later", "right");
  graph.edge("later", "meanwhile").join({"left", "right", "meanwhile"}, "meet");
  graph.edge("meet", "home").edge("home", end);
  return std::move(graph).build().value().definition();
}

std::string wrong_errand(const RunView& view) {
  return view.row.outcome == "home" &&
                 to_json(view.state["said"]) == R"(["left","right","met","home"])"
             ? ""
             : told(view);
}

// A letter: a cycle with a subgraph that interrupts for a person; some runs fail.

struct Page {
  std::string text{};
  std::vector<std::string> lines{};
};
struct Letter {
  int pages = 2;
  bool fails = false;
  std::vector<std::string> written{};
};

Result<Graph<Page>> page_graph() {
  GraphBuilder<Page> graph{"page"};
  graph.node("draft", [](const Page& page, Context&) -> Task<Update<Page>> {
    co_await sleep_for(1500ms);
    co_return append(&Page::lines, "draft of " + page.text);
  });
  ApprovalOptions asked{.question = "Is it good?"};
  graph.approval("read", &Page::text, asked).approved("sign").rejected("sign");
  graph.node("sign", [](const Page&, Context&) { return append(&Page::lines, "signed"); });
  graph.edge(start, "draft").edge("draft", "read").edge("sign", end);
  return std::move(graph).build();
}

std::shared_ptr<const GraphDefinition> letter_graph(Outside&, ProcessId) {
  GraphBuilder<Letter> graph{"letter"};
  graph.subgraph(
      "page", page_graph().value(),
      [](const Letter& letter) { return Page{"page " + std::to_string(letter.written.size())}; },
      [](const Page& page) {
        return append(&Letter::written, page.text + ", " + std::to_string(page.lines.size()));
      });
  graph.node("post", [](const Letter& letter, Context& context) -> Result<Update<Letter>> {
    if (letter.fails) return error(ErrorCode::invalid, "It has no address.");
    context.outcome("posted");
    return append(&Letter::written, "posted");
  });
  auto has_more = [](const Letter& letter) {
    return letter.written.size() < static_cast<std::size_t>(letter.pages);
  };
  graph.edge(start, "page").branch("page", has_more, {"post", "page"}).edge("post", end);
  return std::move(graph).build().value().definition();
}

std::string wrong_letter(const RunView& view) {
  if (view.state["fails"] == Value(true)) {
    return view.row.status == RunStatus::failed ? "" : told(view);
  }
  return view.row.outcome == "posted" &&
                 to_json(view.state["written"]) == R"(["page 0, 2","page 1, 2","posted"])"
             ? ""
             : told(view);
}

// A talk: several runs of one thread, one after another.

struct Talk {
  std::int64_t number = 0;
  std::vector<std::string> lines{};
  std::int64_t turns = 0;
  bool asks = false;
  bool heard = false;
};

auto speaks(std::string who, std::chrono::milliseconds time) {
  return [who, time](const Talk& talk, Context& context) -> Task<Result<Update<Talk>>> {
    co_await sleep_for(time);
    if (context.attempt() == 1 && talk.number % 2 == 0) {
      co_return error(ErrorCode::unavailable, "Nobody listens.");
    }
    co_return append(&Talk::lines, who + " " + std::to_string(talk.number));
  };
}

std::shared_ptr<const GraphDefinition> talk_graph(Outside&, ProcessId) {
  GraphBuilder<Talk> graph{"talk"};
  graph.accumulate(&Talk::lines).accumulate(&Talk::turns);
  graph.node("open", [](const Talk&, Context&) { return unchanged<Talk>(); });
  graph.node("left", speaks("left", 900ms)).retry(kPatient);
  graph.node("right", speaks("right", 400ms)).retry(kPatient);
  graph.node("close", [](const Talk&, Context& context) {
    context.outcome("closed");
    return unchanged<Talk>();
  });
  graph.approval("agree", &Talk::number, {.question = "Is all said?"})
      .when([](const Talk& talk) { return talk.number % 3 == 0; })
      .approved("close")
      .rejected("close")
      .decision_flag(&Talk::heard);
  graph.edge(start, "open").edge("open", "left").edge("open", "right");
  graph.join({"left", "right"}, "agree").edge("close", end);
  return std::move(graph).build().value().definition();
}

std::shared_ptr<void> fresh_talk(std::uint64_t number) {
  auto talk = std::make_shared<Talk>();
  talk->number = static_cast<std::int64_t>(number) + 1;
  talk->lines = {"begin " + std::to_string(talk->number)};
  talk->turns = 1;
  return talk;
}

// The lines of each run follow those of the runs before it. A cancelled run may lack its last ones.
std::string wrong_talk(const RunView& view) {
  std::string number = to_json(view.state["number"]);
  const Value::Array& lines = *view.state["lines"].as_array();
  std::int64_t begun = 0;
  std::set<std::string> seen;
  for (const Value& line : lines) {
    if (!seen.insert(*line.as_string()).second) return told(view);
    if (line.as_string()->starts_with("begin ")) ++begun;
  }
  std::vector<std::string> last{"begin " + number, "left " + number, "right " + number};
  bool is_whole =
      lines.size() >= last.size() &&
      std::equal(last.begin(), last.end(), lines.end() - std::ptrdiff_t{3},
                 [](const auto& text, const Value& line) { return line == Value(text); });
  bool counts = view.state["turns"] == Value(begun);
  return view.row.outcome == "closed" && is_whole && counts ? "" : told(view);
}

template <typename State>
std::shared_ptr<void> fresh(std::uint64_t) {
  return std::make_shared<State>();
}

std::shared_ptr<void> fresh_letter(std::uint64_t number) {
  auto letter = std::make_shared<Letter>();
  letter->fails = number % 4 == 3;
  return letter;
}

RunOptions long_lived() {
  RunOptions options;
  options.timeout = std::chrono::hours(48);
  return options;
}

RunOptions on_a_budget() {
  RunOptions options = long_lived();
  options.budget.tokens = kBudget;
  return options;
}

RunOptions hurried() {
  RunOptions options = long_lived();
  options.durability = Durability::async;
  return options;
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all{
      {"parcel", parcel_graph, fresh<Parcel>, long_lived(), wrong_parcel, 1},
      {"thinker", thinker_graph, fresh<Thinker>, on_a_budget(), wrong_thinker, 1},
      {"errand", errand_graph, fresh<Errand>, long_lived(), wrong_errand, 1},
      {"letter", letter_graph, fresh_letter, hurried(), wrong_letter, 1},
      {"talk", talk_graph, fresh_talk, long_lived(), wrong_talk, 12},
      goal_workload(),
  };
  return all;
}

const Workload* workload_of(std::string_view name) {
  auto found = std::find_if(workloads().begin(), workloads().end(),
                            [&](const Workload& each) { return each.name == name; });
  return found == workloads().end() ? nullptr : &*found;
}

const std::vector<OutsideReceiver>& receivers() {
  static const std::vector<OutsideReceiver> all{
      {"scale", true},       {"charge", true},    {"mail_retry", true}, {"mail_skip", false, true},
      {"mail_probe", false}, {"mail_ask", false}, {kKeyedCalls, true},  {kUnkeyedCalls, false},
  };
  return all;
}

// No store can prevent a late call of a process whose session counts as dead, and a probe or a
// person can have found just before that the call has not happened. An effect that is skipped if
// its intent is found is called once, whichever processes call it.
std::vector<std::string> faults_of(const std::vector<Outside::Call>& calls) {
  std::map<std::pair<std::string, std::string>, int> all, of_live_processes;
  for (const Outside::Call& call : calls) {
    ++all[{call.name, call.key}];
    if (!call.was_zombie) ++of_live_processes[{call.name, call.key}];
  }
  std::vector<std::string> faults;
  for (const OutsideReceiver& receiver : receivers()) {
    if (receiver.may_repeat) continue;
    for (const auto& [call, count] : receiver.is_skipped ? all : of_live_processes) {
      if (call.first != receiver.name || count < 2) continue;
      faults.push_back("I4: " + call.first + " was called " + std::to_string(count) + " times");
    }
  }
  return faults;
}

}  // namespace belay::simulation
