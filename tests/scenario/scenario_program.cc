// The agents of the scenario scripts, as a separate program. Each is as small as its purpose
// permits; docs/scenario-scripts.md describes them for the authors of scripts.

#include "tests/scenario/external_world.h"

namespace belay::scenario {
namespace {

using namespace std::chrono_literals;

RetryPolicy quick_retries() { return {.attempts = 3, .base = 5ms}; }

// letter: the model writes it, a person approves it, it is sent as a message.
struct Letter {
  std::string topic{};
  std::string text{};
  bool sent = false;
};

Task<Result<Update<Letter>>> write_letter(const Letter& letter, Context& context) {
  note_run("write");
  auto text = co_await context.model().complete("Write about " + letter.topic + ".");
  if (!text.ok()) co_return std::move(text).error();
  co_return set(&Letter::text, *text);
}

Task<Update<Letter>> send_letter(const Letter& letter, Context& context) {
  note_run("send");
  co_await stand_still("send");
  context.publish("mail", Value(letter.text));
  context.outcome("sent");
  co_return set(&Letter::sent, true);
}

Result<Graph<Letter>> letter_graph() {
  GraphBuilder<Letter> graph{"letter"};
  graph.one_run_per_thread();
  graph.node("write", write_letter).retry(quick_retries());
  graph.approval("review", &Letter::text, {.question = "Send this letter?"})
      .validate([](const Letter& letter) -> Result<Done> {
        if (!letter.text.empty()) return Done{};
        return error(ErrorCode::invalid, "A letter has a text.");
      })
      .approved("send")
      .rejected(end);
  graph.node("send", send_letter);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build();
}

// parcel: all things are weighed in parallel, then packed.
struct Parcel {
  std::vector<std::string> things{};
  std::vector<std::string> weighed{};
  std::string label{};
};

Update<Parcel> look_at_things(const Parcel&, Context&) {
  note_run("look");
  return unchanged<Parcel>();
}

std::vector<Send> each_thing(const Parcel& parcel) {
  std::vector<Send> sends;
  for (const std::string& thing : parcel.things) sends.push_back(send_to("weigh", thing));
  return sends;
}

Task<Update<Parcel>> weigh(const Parcel&, Context& context) {
  std::string thing = context.input<std::string>();
  note_run("weigh:" + thing);
  co_await stand_still("weigh:" + thing);
  co_return append(&Parcel::weighed, thing);
}

Task<Update<Parcel>> pack(const Parcel& parcel, Context& context) {
  note_run("pack");
  co_await stand_still("pack");
  context.outcome("packed");
  co_return set(&Parcel::label, std::to_string(parcel.weighed.size()) + " things");
}

Result<Graph<Parcel>> parcel_graph() {
  GraphBuilder<Parcel> graph{"parcel"};
  graph.node("look", look_at_things);
  graph.node("weigh", weigh);
  graph.node("pack", pack);
  graph.edge(start, "look").branch("look", each_thing, {"weigh"});
  graph.edge("weigh", "pack").edge("pack", end);
  return std::move(graph).build();
}

// purchase: a payment by key, a keyed effect.
struct Purchase {
  std::string item{};
  int refusals = 0;
  std::string receipt{};
};

Task<Result<Update<Purchase>>> pay(const Purchase& purchase, Context& context) {
  note_run("pay");
  auto charge = [&context, item = purchase.item]() -> Task<std::string> {
    note_call("charge", context.idempotency_key("charge"));
    co_await stand_still("charge");
    co_return "paid for " + item;
  };
  std::string receipt = co_await context.keyed_effect("charge", charge);
  if (context.attempt() <= purchase.refusals) {
    co_return error(ErrorCode::unavailable, "The printer of receipts is busy.");
  }
  co_return set(&Purchase::receipt, receipt);
}

Result<Graph<Purchase>> purchase_graph() {
  GraphBuilder<Purchase> graph{"purchase"};
  graph.node("pay", pay).retry(quick_retries());
  graph.edge(start, "pay").edge("pay", end);
  return std::move(graph).build();
}

// notice: a mail without a key, an unkeyed effect, with the policy that the state names.
struct Notice {
  std::string policy = "ask";
  int expires_ms = 60'000;
  std::string told{};
};

WhenUncertain policy_named(const std::string& name) {
  if (name == "retry") return WhenUncertain::retry;
  if (name == "skip") return WhenUncertain::skip;
  if (name == "probe") return WhenUncertain::probe;
  return WhenUncertain::ask;
}

Task<Update<Notice>> tell(const Notice& notice, Context& context) {
  note_run("tell");
  EffectOptions options;
  options.when_uncertain = policy_named(notice.policy);
  options.expires = std::chrono::milliseconds(notice.expires_ms);
  std::string key = context.idempotency_key("post");
  auto post = [key]() -> Task<std::string> {
    co_await stand_still("before-post");
    note_call("post", key);
    co_await stand_still("post");
    co_return "posted";
  };
  Probe<std::string> look = [key]() -> Result<std::optional<std::string>> {
    if (was_called("post", key)) return std::optional<std::string>("found at the post office");
    return std::optional<std::string>();
  };
  auto told = co_await context.unkeyed_effect("post", options, post, std::move(look));
  co_return set(&Notice::told, told.value_or("nobody knows"));
}

Result<Graph<Notice>> notice_graph() {
  GraphBuilder<Notice> graph{"notice"};
  graph.node("tell", tell);
  graph.edge(start, "tell").edge("tell", end);
  return std::move(graph).build();
}

// reminder: waits for its time, and counts the reminder.
struct Reminder {
  std::string text{};
  int after_ms = 0;
  int said = 0;
};

Update<Reminder> remind(const Reminder&, Context& context) {
  note_run("remind");
  context.outcome("reminded");
  return add(&Reminder::said, 1);
}

Result<Graph<Reminder>> reminder_graph() {
  GraphBuilder<Reminder> graph{"reminder"};
  graph.wait("sleep",
             [](const Reminder& reminder) { return std::chrono::milliseconds(reminder.after_ms); });
  graph.node("remind", remind);
  graph.edge(start, "sleep").edge("sleep", "remind").edge("remind", end);
  return std::move(graph).build();
}

// trip: a subgraph with an approval inside.
struct Hotel {
  std::string town{};
  std::string room{};
};

Update<Hotel> find_room(const Hotel& hotel, Context&) {
  note_run("find");
  return set(&Hotel::room, "a room in " + hotel.town);
}

Task<Update<Hotel>> book_room(const Hotel&, Context&) {
  note_run("book");
  co_await stand_still("book");
  co_return unchanged<Hotel>();
}

struct Trip {
  std::string town{};
  std::string room{};
};

Update<Trip> travel(const Trip&, Context& context) {
  note_run("travel");
  context.outcome("travelled");
  return unchanged<Trip>();
}

Result<Graph<Trip>> trip_graph() {
  GraphBuilder<Hotel> inner{"hotel"};
  inner.node("find", find_room);
  inner.approval("choose", &Hotel::room, {.question = "Is this room right?"})
      .approved("book")
      .rejected(end);
  inner.node("book", book_room);
  inner.edge(start, "find").edge("find", "choose").edge("book", end);
  BELAY_TRY(auto hotel, std::move(inner).build());
  GraphBuilder<Trip> graph{"trip"};
  graph.subgraph(
      "hotel", hotel, [](const Trip& trip) { return Hotel{trip.town, {}}; },
      [](const Hotel& found) { return set(&Trip::room, found.room); });
  graph.node("travel", travel);
  graph.edge(start, "hotel").edge("hotel", "travel").edge("travel", end);
  return std::move(graph).build();
}

// committee: two people are asked at the same time; both must agree.
struct Committee {
  std::string plan{};
  bool treasurer_agrees = false;
  bool chair_agrees = false;
  std::string decided{};
};

Update<Committee> count_votes(const Committee& votes, Context& context) {
  note_run("count");
  bool agreed = votes.treasurer_agrees && votes.chair_agrees;
  context.outcome(agreed ? "agreed" : "refused");
  return set(&Committee::decided, agreed ? "yes" : "no");
}

Result<Graph<Committee>> committee_graph() {
  GraphBuilder<Committee> graph{"committee"};
  graph.approval("treasurer", &Committee::plan, {.question = "Is there money for it?"})
      .decision_flag(&Committee::treasurer_agrees)
      .approved("count")
      .rejected("count");
  graph.approval("chair", &Committee::plan, {.question = "Is it wise?"})
      .decision_flag(&Committee::chair_agrees)
      .approved("count")
      .rejected("count");
  graph.node("count", count_votes);
  graph.edge(start, "treasurer").edge(start, "chair").edge("count", end);
  return std::move(graph).build();
}

// payment: only a treasurer may approve it.
struct Payment {
  int amount = 0;
  bool paid = false;
};

Update<Payment> pay_out(const Payment&, Context&) {
  note_run("pay-out");
  return set(&Payment::paid, true);
}

Result<Graph<Payment>> payment_graph() {
  GraphBuilder<Payment> graph{"payment"};
  graph.approval("allow", &Payment::amount, {.question = "Pay this?", .roles = {"treasurer"}})
      .approved("pay")
      .rejected(end);
  graph.node("pay", pay_out);
  graph.edge(start, "allow").edge("pay", end);
  return std::move(graph).build();
}

// interview: two interrupts inside one node.
struct Interview {
  std::string name{};
  std::string town{};
};

Update<Interview> interview(const Interview&, Context& context) {
  note_run("interview");
  InterruptResponse name = context.interrupt({"name", "What is your name?", Value("nobody")});
  InterruptResponse town = context.interrupt({"town", "Where do you live?", Value("nowhere")});
  auto text_of = [](const InterruptResponse& answer) {
    const std::string* text = answer.payload.as_string();
    return answer.approved && text ? *text : std::string("not told");
  };
  return set(&Interview::name, text_of(name)).set(&Interview::town, text_of(town));
}

Result<Graph<Interview>> interview_graph() {
  GraphBuilder<Interview> graph{"interview"};
  graph.node("interview", interview);
  graph.edge(start, "interview").edge("interview", end);
  return std::move(graph).build();
}

// round: a cycle, with one commit per round.
struct Round {
  int rounds = 3;
  int gone = 0;
  bool stumbles = false;
};

Task<Result<Update<Round>>> go_round(const Round& round, Context&) {
  note_run("go");
  co_await stand_still("go");
  if (round.stumbles) co_return error(ErrorCode::invalid, "A stone lies in the way.");
  co_return add(&Round::gone, 1);
}

Result<Graph<Round>> round_graph() {
  GraphBuilder<Round> graph{"round"};
  graph.one_run_per_thread();
  graph.node("go", go_round);
  graph.edge(start, "go");
  graph.branch("go", [](const Round& round) { return round.gone >= round.rounds; }, {"go", end});
  return std::move(graph).build();
}

// guess: reads the world without recording it: a replay diverges.
struct Guess {
  int number = 0;
};

Update<Guess> guess(const Guess&, Context&) { return set(&Guess::number, note_run("guess")); }

Result<Graph<Guess>> guess_graph() {
  GraphBuilder<Guess> graph{"guess"};
  graph.node("guess", guess);
  graph.edge(start, "guess").edge("guess", end);
  return std::move(graph).build();
}

}  // namespace
}  // namespace belay::scenario

int main(int argc, char** argv) {
  using namespace belay::scenario;
  belay::MainOptions options;
  options.name = "scenario";
  options.model = scripted_model();
  options.receivers["mail"] = take_message;
  return belay::main(argc, argv, options, letter_graph(), parcel_graph(), purchase_graph(),
                     notice_graph(), reminder_graph(), trip_graph(), committee_graph(),
                     payment_graph(), interview_graph(), round_graph(), guess_graph());
}
