#include "tests/corpus/journeys.h"

#include <functional>

#include "store/postgres/postgres_store.h"

namespace belay::corpus {
namespace {

struct Postcard {
  static constexpr std::string_view collection = "postcards";
  std::string thread{};
  std::string text{};
  std::string key() const { return thread; }
  static auto indexed() { return std::tuple{&Postcard::thread}; }
};

Update<Journey> look(const Journey& journey, Context& context) {
  context.publish("looked", Value(journey.place));
  return append(&Journey::seen, "the road to the " + journey.place);
}

// Returns a text large enough to be stored once, as a blob.
Update<Journey> write(const Journey& journey, Context&) {
  std::string letter = "From the " + journey.place + ":";
  while (letter.size() < 70'000) letter += " we walked on, and it rained.";
  return set(&Journey::letter, std::move(letter));
}

Update<Journey> visit(const Journey& journey, Context& context) {
  auto sight = context.input<std::string>();
  if (journey.place != "sea") return append(&Journey::seen, sight);
  InterruptRequest question;
  question.name = "swim";
  question.text = "Is the water warm enough?";
  question.payload = Value("the " + sight);
  bool swam = context.interrupt(std::move(question)).approved;
  return append(&Journey::seen, (swam ? "swam at the " : "saw the ") + sight);
}

Update<Journey> keep(const Journey& journey, Context& context) {
  Postcard card;
  card.thread = context.thread().text;
  card.text = journey.seen.back();
  context.save(card);
  context.outcome("kept");
  return unchanged<Journey>();
}

// Each opening gets a new seed: continued runs get new ids.
std::uint64_t seed_for(const std::string& name) {
  static std::uint64_t openings = 0;
  return std::hash<std::string>{}(name) + ++openings;
}

// An approval of a file of years ago must not have expired: PostgreSQL uses this clock as well, not
// that of its server.
Result<std::unique_ptr<Store>> open_stored(const std::string& name, Clock& clock, Random& random) {
  if (!name.starts_with("postgresql:")) return open_store(name, clock, random);
  postgres::PostgresStoreOptions options;
  options.expiry_clock = &clock;
  return postgres::open_postgres_store(name, clock, random, std::move(options));
}

}  // namespace

Graph<Journey> journey_graph() {
  GraphBuilder<Journey> graph{"journey"};
  graph.node("begin", [](const Journey&, Context&) { return append(&Journey::seen, "the door"); });
  graph.node("look", look);
  graph.node("write", write);
  graph.node("gather", [](const Journey&, Context&) { return unchanged<Journey>(); });
  graph.node("visit", visit);
  graph.approval("review", &Journey::place, {.question = "Shall we go back?"})
      .when([](const Journey& journey) { return journey.place == "hills"; })
      .decision_flag(&Journey::agreed)
      .approved("keep")
      .rejected(end);
  graph.node("keep", keep);
  graph.edge(start, "begin").edge("begin", "look").edge("begin", "write");
  graph.join({"look", "write"}, "gather");
  graph.branch("gather",
               [](const Journey&) {
                 return std::vector<Send>{send_to("visit", "old harbour"),
                                          send_to("visit", "lighthouse")};
               },
               {"visit"});
  graph.edge("visit", "review").edge("keep", end);
  return std::move(graph).build().value();
}

EncryptionOptions plaintext_options() {
  EncryptionOptions encryption;
  encryption.compress = EncryptionOptions::Compress::never;
  return encryption;
}

EncryptionOptions encrypting_options() {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("corpus:" + std::string(64, 'c') + "\n").value();
  return encryption;
}

Journeys::Journeys(const std::string& name, EncryptionOptions encryption)
    : random_(seed_for(name)),
      inner_(open_stored(name, clock_, random_).value()),
      sealed_(make_encrypted_store(*inner_, random_, std::move(encryption))) {
  runtime_ = Runtime::open(RuntimeParts{*sealed_, *loop_, clock_, random_, model_}).value();
  runtime_->add(graph_);
}

void Journeys::set_out() {
  for (const auto& [thread, place] : {std::pair{"home", "garden"}, std::pair{"edited", "hills"},
                                      std::pair{"hills", "hills"}, std::pair{"sea", "sea"}}) {
    StartOptions options;
    options.thread = ThreadId(thread);
    Journey journey;
    journey.place = place;
    auto begun = block_on(*loop_, runtime_->start(graph_, std::move(journey), std::move(options)));
    BELAY_ASSERT(begun.ok());
  }
  BELAY_ASSERT(agree("edited", Value("plains")).ok());
}

RunView Journeys::status(const std::string& thread) {
  return block_on(*loop_, runtime_->status(default_tenant(), ThreadId(thread))).value();
}

Result<DecisionResult> Journeys::agree(const std::string& thread, std::optional<Value> edited) {
  RunView paused = status(thread);
  BELAY_ASSERT(!paused.approvals.empty());
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  decision.edited = std::move(edited);
  InterruptId asked = paused.approvals.front().interrupt;
  return block_on(*loop_, runtime_->decide(default_tenant(), asked, std::move(decision)));
}

CheckReport Journeys::check() {
  CheckScope scope;
  scope.graphs = {graph_.definition()};
  scope.collections = {std::string(Postcard::collection)};
  return block_on(*loop_, check_store(*sealed_, std::move(scope))).value();
}

}  // namespace belay::corpus
