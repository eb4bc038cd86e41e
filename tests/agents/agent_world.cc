#include "tests/agents/agent_world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "store/forwarding_store.h"

namespace belay::agents {
namespace {

const ThreadId thread_id("t");

std::string text_of(const Value& content) {
  if (const std::string* text = content.as_string()) return *text;
  std::string all;
  if (const Value::Array* blocks = content.as_array()) {
    for (const Value& block : *blocks) {
      if (const std::string* text = block["text"].as_string()) all += *text;
    }
  }
  return all;
}

std::vector<std::string> results_in(const Value& body) {
  std::vector<std::string> results;
  const Value::Array* messages = body["messages"].as_array();
  if (!messages) return results;
  for (const Value& message : *messages) {
    if (message["role"] == Value("tool")) results.push_back(text_of(message["content"]));
    const Value::Array* blocks = message["content"].as_array();
    if (!blocks) continue;
    for (const Value& block : *blocks) {
      if (block["type"] == Value("tool_result")) results.push_back(text_of(block["content"]));
    }
  }
  return results;
}

Value payload_of(const ApprovalRow& approval) {
  return parse_json(*json_in_envelope(approval.payload)).value();
}

}  // namespace

class AgentWorld::MovedClock final : public Clock {
 public:
  Instant now() override { return system_->now() + std::chrono::microseconds(moved_.load()); }
  void move(std::chrono::microseconds by) { moved_ += by.count(); }

 private:
  std::unique_ptr<Clock> system_ = system_clock();
  std::atomic<std::int64_t> moved_ = 0;
};

// Commits nothing after the end of its process.
class AgentWorld::DyingStore final : public ForwardingStore {
 public:
  DyingStore(Store& kept, AgentWorld& world) : ForwardingStore(kept), world_(world) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    Completion<Result<CommitOutcome>> never;
    ++world_.commits;
    if (world_.is_dead_ || world_.dies_at(Death::before_commit)) co_return co_await never;
    auto outcome = co_await inner().commit(std::move(commit));
    if (world_.is_dead_ || world_.dies_at(Death::after_commit)) co_return co_await never;
    co_return std::move(outcome);
  }

 private:
  AgentWorld& world_;
};

AgentWorld::AgentWorld(providers::Provider provider, Script script, AgentOptions options,
                       ModelSettings settings)
    : provider_(provider),
      script_(std::move(script)),
      options_(std::move(options)),
      settings_(std::move(settings)),
      clock_(std::make_unique<MovedClock>()),
      kept_(open_store("memory:", *clock_, random_).value()),
      store_(std::make_unique<DyingStore>(*kept_, *this)),
      server_([this](const providers::Asked& asked) { return answer(asked); }) {
  settings_.models = std::string(providers::name_of(provider_)) + ":m";
  settings_.url = server_.url(provider_ == providers::Provider::openai ? "/v1" : "");
  settings_.anthropic_key = std::string("k");
  settings_.proxy = std::string();
  if (options_.prompt.empty()) options_.prompt = "You call \"tools\".";
  options_.retry = RetryPolicy{.attempts = 10, .base = std::chrono::milliseconds(1)};
}

AgentWorld::~AgentWorld() {
  runtime_.reset();
  model_.reset();
}

Tool AgentWorld::counted_tool(ToolOptions options) {
  std::string name = options.name;
  return make_tool<CallArguments>(std::move(options),
                                  [this, name](const CallArguments& arguments, ToolContext& call) {
                                    ++received[name][call.key()];
                                    ++sent[name][arguments.to];
                                    dies_at(Death::call);
                                    return name + " to " + arguments.to;
                                  });
}

void AgentWorld::use(std::vector<Tool> tools) {
  options_.tools = std::move(tools);
  graph_ = agent_graph("proof", options_).value();
  restart();
}

void AgentWorld::restart() {
  runtime_.reset();
  model_.reset();
  is_dead_ = false;
  model_ = open_model(settings_, *clock_).value();
  RuntimeParts parts{*store_, *loop_, *clock_, random_, *model_};
  runtime_ = Runtime::open(std::move(parts)).value();
  runtime_->add(*graph_);
}

void AgentWorld::die_at(DeathPoint point) {
  std::lock_guard lock(mutex_);
  death_ = point;
  events_until_death_ = point.number;
  commits = 0;
}

bool AgentWorld::dies_at(Death event) {
  {
    std::lock_guard lock(mutex_);
    if (death_.kind != event || --events_until_death_ > 0) return false;
    death_ = DeathPoint();
  }
  die();
  return true;
}

void AgentWorld::die() {
  is_dead_ = true;
  loop_->stop();
}

providers::Told AgentWorld::answer(const providers::Asked& asked) {
  Heard heard;
  heard.number = ++requests_;
  auto provider = providers::provider_of(asked.path);
  if (provider != provider_) {
    return providers::refusal(provider_, 404, "not_found_error", "Nothing is there.");
  }
  heard.provider = provider_;
  heard.body = asked.body;
  heard.results = results_in(asked.body);
  if (auto no = providers::refusal_of(asked, provider_)) {
    std::lock_guard lock(mutex_);
    rejections_.push_back(no->pieces.front() + " for " + asked.text);
    return *std::move(no);
  }
  {
    std::lock_guard lock(mutex_);
    bodies_.push_back(asked.text);
  }
  if (dies_at(Death::request)) {
    providers::Told silence;
    silence.then = providers::Then::hang;
    return silence;
  }
  return script_(heard);
}

std::vector<std::string> AgentWorld::bodies() const {
  std::lock_guard lock(mutex_);
  return bodies_;
}

std::vector<std::string> AgentWorld::rejections() const {
  std::lock_guard lock(mutex_);
  return rejections_;
}

int AgentWorld::closed_early() const {
  for (int i = 0; i < 3'000 && server_.closed() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return server_.closed();
}

std::string AgentWorld::prefix_fault() const {
  constexpr std::string_view end_of_body = "]}";
  std::vector<std::string> all = bodies();
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::string_view before = all[i - 1];
    if (!before.ends_with(end_of_body)) return "request " + std::to_string(i - 1) + " has no end";
    before.remove_suffix(end_of_body.size());
    if (!all[i].starts_with(before)) {
      return "request " + std::to_string(i) + " is " + all[i] + " after " + all[i - 1];
    }
  }
  return "";
}

template <typename T>
std::optional<T> AgentWorld::play(Task<T> task) {
  std::optional<T> ended;
  Spawned running;
  loop_->post([&] {
    running = spawn<T>(*loop_, std::move(task), [&](T value) {
      ended.emplace(std::move(value));
      loop_->stop();
    });
  });
  while (!ended && !is_dead_) loop_->run();
  running.reset();
  if (is_dead_) {
    ++deaths;
    restart();
  }
  return ended;
}

RunView AgentWorld::view() {
  auto seen = play(runtime_->status(default_tenant(), thread_id));
  return std::move(*seen).value();
}

RunView AgentWorld::ask(const std::string& question) {
  StartOptions start;
  start.thread = thread_id;
  start.idempotency_key = "question-" + std::to_string(++questions_);
  while (true) {
    AgentState state;
    state.question = question;
    auto started = play(runtime_->start(*graph_, std::move(state), start));
    if (!started) continue;
    EXPECT_TRUE(started->ok()) << started->error().message;
    if (!started->ok()) return RunView();
    return settle();
  }
}

RunView AgentWorld::settle() {
  while (true) {
    RunView seen = view();
    if (seen.row.status == RunStatus::running || seen.row.status == RunStatus::queued) {
      play(runtime_->resume(default_tenant(), thread_id));
      continue;
    }
    if (seen.row.status != RunStatus::paused || !settle_uncertain(seen)) return seen;
  }
}

bool AgentWorld::settle_uncertain(const RunView& seen) {
  for (const ApprovalRow& approval : seen.approvals) {
    Value payload = payload_of(approval);
    const std::string* key = payload["key"].as_string();
    if (payload.find("call") || !key) continue;
    Decision decision;
    decision.choice = "redo";
    decision.decided_by = "ana";
    for (const auto& [tool, calls] : received) {
      if (calls.count(*key) > 0) decision.choice = "happened";
    }
    play(runtime_->decide(default_tenant(), approval.interrupt, decision));
    return true;
  }
  return false;
}

RunView AgentWorld::decide(const std::string& call, Verdict verdict) {
  while (verdict != Verdict::expire) {
    RunView seen = settle();
    auto is_of_call = [&](const ApprovalRow& approval) {
      return payload_of(approval)["call"] == Value(call);
    };
    auto found = std::find_if(seen.approvals.begin(), seen.approvals.end(), is_of_call);
    if (found == seen.approvals.end()) return seen;
    Decision decision;
    decision.approved = verdict != Verdict::reject;
    decision.decided_by = "ana";
    if (verdict == Verdict::edit) {
      Value payload = payload_of(*found);
      payload.as_object()->insert_or_assign("arguments", Value::object({{"to", "edited-" + call}}));
      decision.edited = std::move(payload);
    }
    play(runtime_->decide(default_tenant(), found->interrupt, decision));
  }
  return settle();
}

RunView AgentWorld::wait_a_day() {
  clock_->move(std::chrono::hours(25));
  while (!play(runtime_->process_due(default_tenant()))) {
  }
  return settle();
}

void AgentWorld::cancel() {
  while (!play(runtime_->cancel(default_tenant(), thread_id, "ana"))) {
  }
}

std::vector<StreamEvent> AgentWorld::events() {
  EventOptions options;
  options.thread = thread_id;
  options.follow = false;
  std::vector<StreamEvent> all;
  auto opened = play(runtime_->events(options));
  std::unique_ptr<EventReader> reader = std::move(*opened).value();
  while (true) {
    auto some = play(reader->next());
    if (!some || !some->ok() || (*some)->empty()) return all;
    all.insert(all.end(), (*some)->begin(), (*some)->end());
  }
}

int cases_of(int in_ci, int in_soak) { return std::getenv("BELAY_SOAK_AGENTS") ? in_soak : in_ci; }

}  // namespace belay::agents
