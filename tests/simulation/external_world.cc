#include "tests/simulation/external_world.h"

#include <algorithm>

#include "tests/simulation/goal_workload.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

// The time from a caller to a receiver or back, in microseconds; one in four is slow.
constexpr std::uint64_t kWayMax = 40'000;
constexpr std::uint64_t kSlowWayMax = 1'200'000;
// The time after which a caller stops waiting for a reply.
constexpr microseconds kPatience = 3s;
constexpr microseconds kHanging = 100h;
constexpr std::uint64_t kThinking = 800'000;

}  // namespace

microseconds Outside::way() {
  std::uint64_t chance = random_.bits();
  std::uint64_t longest = chance % 4 == 0 ? kSlowWayMax : kWayMax;
  return microseconds(1'000 + static_cast<std::int64_t>(chance / 4 % longest));
}

std::optional<FaultKind> Outside::fate(const std::string& thread, std::vector<FaultKind> faults) {
  std::optional<FaultKind> drawn;
  for (FaultKind fault : faults) {
    // Each fault is always drawn, so that the probability of one does not change the random numbers
    // of the others.
    bool is_drawn = is_likely(chances_[fault]);
    if (is_drawn && !drawn) drawn = fault;
  }
  if (!drawn) return drawn;
  auto row = static_cast<std::size_t>(*drawn);
  ++coverage_.struck[row];
  for (const auto& sight : sightings_.all()) {
    if (sight.thread == thread) ++coverage_.met[row][static_cast<std::size_t>(sight.state)];
  }
  return drawn;
}

Task<Result<std::int64_t>> Outside::call(ProcessId process, std::string thread, std::string name,
                                         std::string key) {
  auto stay = sightings_.enter(process, thread, RunState::calling);
  auto fault = fate(thread, {FaultKind::call_lost, FaultKind::reply_lost, FaultKind::call_refused});
  microseconds there = way();
  microseconds back = way();
  log_.tell(process, "calls " + name + " for " + thread +
                         (fault ? ", " + std::string(name_of(*fault)) : std::string()));
  bool arrives = fault != FaultKind::call_lost && fault != FaultKind::call_refused;
  if (arrives) {
    ++on_their_way_[{name, key}];
    bool is_zombie = zombies_.contains(process);
    agenda_.after(kOutside, there, [this, process, name, key, is_zombie] {
      --on_their_way_[{name, key}];
      calls_.push_back({name, key, process, is_zombie});
      log_.tell(kOutside, name + " is called by p" + std::to_string(process));
    });
  }
  bool is_answered = !fault || fault == FaultKind::call_refused;
  microseconds time = is_answered ? there + back : kPatience;
  co_await sleep_for(time);
  if (fault == FaultKind::call_refused) {
    co_return error(ErrorCode::unavailable, "The receiver of " + name + " is busy.");
  }
  if (fault) co_return error(ErrorCode::uncertain, "The receiver of " + name + " is silent.");
  co_return std::int64_t{1};
}

Result<std::optional<std::int64_t>> Outside::look(const std::string& name,
                                                  const std::string& key) const {
  auto under_way = on_their_way_.find({name, key});
  if (under_way != on_their_way_.end() && under_way->second > 0) {
    return error(ErrorCode::unavailable, "It may be on its way.");
  }
  bool is_there = std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
    return call.name == name && call.key == key;
  });
  return is_there ? std::optional<std::int64_t>(1) : std::nullopt;
}

Task<Result<Done>> Outside::take_message(ProcessId process, std::string id) {
  std::string thread = "no thread";
  auto fault = fate(thread, {FaultKind::reply_lost, FaultKind::call_refused});
  co_await sleep_for(way());
  if (fault == FaultKind::call_refused) {
    co_return error(ErrorCode::unavailable, "The receiver of messages is busy.");
  }
  ++messages_[id];
  log_.tell(process, "hands a message over, the " + std::to_string(messages_[id]) + ". time");
  co_await sleep_for(way());
  if (fault) co_return error(ErrorCode::unavailable, "The receiver of messages is silent.");
  co_return Done{};
}

// The reply depends only on the request, and on the fault if one is drawn.
Task<Result<ModelReply>> Outside::generate(ProcessId process, ModelRequest request) {
  auto of_goal = goal_request(request);
  std::string thread = of_goal ? of_goal->thread : *request.input["thread"].as_string();
  std::int64_t step = of_goal ? of_goal->step : *request.input["step"].as_int();
  auto stay = sightings_.enter(process, thread, RunState::thinking);
  auto fault = fate(thread, {FaultKind::model_hangs, FaultKind::model_drips, FaultKind::model_lies,
                             FaultKind::model_fails});
  auto time = microseconds(static_cast<std::int64_t>(random_.bits() % kThinking));
  log_.tell(process, "asks the model for " + thread + ", step " + std::to_string(step) +
                         (fault ? ", " + std::string(name_of(*fault)) : std::string()));
  if (fault == FaultKind::model_hangs) time = kHanging;
  if (fault == FaultKind::model_drips) time = 8s + time;
  co_await sleep_for(time);
  if (fault == FaultKind::model_fails) {
    Error failed = error(ErrorCode::unavailable, "The model is overloaded.");
    failed.retry_after = 500ms;
    co_return std::move(failed);
  }
  ModelReply reply;
  reply.provider = "outside";
  reply.model = "outside/1";
  reply.method = "script";
  reply.usage = Usage{20, 10};
  reply.text = "{\"fact\":\"fact " + std::to_string(step) + "\"}";
  if (fault == FaultKind::model_lies) reply.text = step % 2 == 0 ? "Gladly!" : "{\"fact\":7}";
  if (of_goal) answer_goal(request, fault == FaultKind::model_lies, reply);
  co_return std::move(reply);
}

}  // namespace belay::simulation
