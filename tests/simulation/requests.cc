#include "tests/simulation/requests.h"

#include "belay/service.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

constexpr microseconds kRepeatedAfter = 10s;

}  // namespace

void Requests::want(const std::string& name, std::function<void(const std::string& name)> ask) {
  Waiting& waiting = waiting_[name];
  waiting.ask = std::move(ask);
  try_now(name, waiting);
}

void Requests::try_now(const std::string& name, Waiting& waiting) {
  waiting.asked = machine_.agenda.now();
  if (!process_) return;
  // A copy: a call that ends immediately removes the request.
  auto ask = waiting.ask;
  ask(name);
}

void Requests::repeat() {
  std::vector<std::string> late;
  for (const auto& [name, waiting] : waiting_) {
    if (machine_.agenda.now() - waiting.asked >= kRepeatedAfter) late.push_back(name);
  }
  for (const std::string& name : late) try_now(name, waiting_.at(name));
}

void Requests::ended(const std::string& request, const std::optional<Error>& failed) {
  machine_.log.tell(process_->id(), "asked for " + request + ": " +
                                        (failed ? failed->message : std::string("done")));
  bool is_final = !failed || failed->code == ErrorCode::conflict ||
                  failed->code == ErrorCode::not_found || failed->code == ErrorCode::invalid;
  if (is_final) waiting_.erase(request);
}

void Requests::want_schedule() {
  constexpr Overlap kPolicies[] = {Overlap::skip, Overlap::buffer_one, Overlap::allow,
                                   Overlap::cancel_other};
  std::uint64_t how = random_.bits();
  ScheduleChange wanted;
  wanted.expression = "*/5 * * * * *";
  wanted.overlap = std::string(name_of(kPolicies[how % std::size(kPolicies)]));
  wanted.agent = how / 4 % 2 == 0 ? "errand" : "letter";
  wanted.catch_up_seconds = kCatchUp.count();
  std::string name = *wanted.overlap + "-" + std::to_string(schedules_.size());
  schedules_.push_back(name);
  want("schedule " + name,
       [this, name, wanted](const std::string& request) { add(request, name, wanted); });
}

void Requests::add(const std::string& request, const std::string& schedule,
                   const ScheduleChange& wanted) {
  auto task = process_->service().schedules().add(who_, kScheduleUser, schedule, wanted);
  process_->begin<ScheduleView>(std::move(task), [this, request](Result<ScheduleView> view) {
    ended(request, view.ok() ? std::nullopt : std::optional(view.error()));
  });
}

void Requests::end_schedules() {
  for (const std::string& name : schedules_) {
    waiting_.erase("schedule " + name);
    want("pause of " + name, [this, name](const std::string& request) { pause(request, name); });
  }
}

void Requests::pause(const std::string& request, const std::string& schedule) {
  ScheduleChange change;
  change.paused = true;
  auto task = process_->service().schedules().edit(who_, kScheduleUser, schedule, change);
  process_->begin<ScheduleView>(std::move(task), [this, request](Result<ScheduleView> view) {
    ended(request, view.ok() ? std::nullopt : std::optional(view.error()));
  });
}

void Requests::want_message(const std::string& thread) {
  std::string id = "message-" + std::to_string(messages_++);
  want(id, [this, thread](const std::string& request) { send(request, thread); });
}

void Requests::send(const std::string& id, const std::string& thread) {
  Steer message;
  message.text = message.id = id;
  message.by = "ana";
  auto task = process_->service().steer(who_, ThreadId(thread), std::move(message));
  process_->begin<SteeringMessage>(
      std::move(task), [this, id, thread](Result<SteeringMessage> stored) {
        if (stored.ok() && waiting_.contains(id)) accepted_[thread].push_back(id);
        ended(id, stored.ok() ? std::nullopt : std::optional(stored.error()));
      });
}

}  // namespace belay::simulation
