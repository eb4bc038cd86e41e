#include "tests/explorer/why_judge.h"

#include <algorithm>

#include "service/wait_facts.h"
#include "store/memory/memory_snapshot.h"

namespace belay::explorer {
namespace {

constexpr int kStepsMax = 200;

bool is_living(const Living& living, const SessionId& session) {
  return std::any_of(living.begin(), living.end(),
                     [&](int each) { return session_id(each) == session; });
}

Living without(Living living, const SessionId& session) {
  std::erase_if(living, [&](int each) { return session_id(each) == session; });
  return living;
}

Living with(Living living, const SessionId& session) {
  for (int number = 0; number < sessions_max; ++number) {
    if (session_id(number) == session) living.push_back(number);
  }
  return living;
}

bool has_open_approval(const Stored& stored) {
  return std::any_of(stored.approvals.begin(), stored.approvals.end(),
                     [](const auto& row) { return row.status == ApprovalStatus::open; });
}

int new_session(const Stored& stored, const Living& living) {
  int number = 0;
  while (stored.names(number) || std::count(living.begin(), living.end(), number) > 0) ++number;
  return number;
}

}  // namespace

WhyJudge::WhyJudge(Processes& processes, Why why) : processes_(processes), why_(std::move(why)) {
  graphs_.add(processes.graph());
}

WaitFacts WhyJudge::facts_of(const World& world, const RunRow& run) const {
  store::MemorySnapshot view(world.stored.tables);
  WaitFacts facts = wait_facts(view, graphs_, {}, {}, world.now, run).value();
  facts.owner_is_alive = is_living(world.living, run.session);
  return facts;
}

const Stored& WhyJudge::after_call(const World& world, Errand errand) {
  int session = new_session(world.stored, world.living);
  BELAY_ASSERT(session < sessions_max);
  Living living = world.living;
  living.push_back(session);
  const Stored* stored = &world.stored;
  const Moment* moment = &processes_.begin(Call{session, errand, stored, world.now});
  for (int step = 0; step < kStepsMax && !moment->progress.ended; ++step) {
    Heard heard;
    heard.now = world.now;
    BELAY_ASSERT(!moment->progress.open.empty());
    Open::What what = moment->progress.open.front().what;
    if (what == Open::What::read) heard.seen = stored;
    if (what == Open::What::commit) {
      const Written& written = processes_.write(*stored, *moment, 0, world.now);
      stored = written.after;
      if (written.outcome.ok()) heard.outcome = *written.outcome;
    }
    moment = &processes_.hear(moment->number, heard, living);
  }
  return *stored;
}

bool WhyJudge::advances(const World& world, Errand errand) {
  return after_call(world, errand).number != world.stored.number;
}

std::vector<std::string> WhyJudge::judge(const Stored& stored, const Living& living, Instant now) {
  std::vector<std::string> wrong;
  Living sorted = living;
  std::sort(sorted.begin(), sorted.end());
  if (!judged_.emplace(stored.number, sorted, now.time_since_epoch().count()).second) return wrong;
  World world{stored, std::move(sorted), now};
  for (const RunRow& run : stored.runs) {
    if (!is_final(run.status)) judge_run(world, run, wrong);
  }
  return wrong;
}

void WhyJudge::judge_run(const World& world, const RunRow& run, std::vector<std::string>& wrong) {
  std::vector<Cause> causes = why_(facts_of(world, run));
  if (causes.empty()) wrong.emplace_back("Why: No cause is named.");
  for (const Cause& cause : causes) {
    kinds_.insert(cause.cause);
    std::string fault = fault_of(world, run, cause);
    if (fault.empty()) continue;
    wrong.push_back("Why: The run is " + std::string(name_of(run.status)) + ", and " +
                    std::string(name_of(cause.cause)) + " is named, but " + fault);
  }
}

std::string WhyJudge::fault_of(const World& world, const RunRow& run, const Cause& cause) {
  switch (cause.cause) {
    case WaitCause::approval:
      return fault_of_approval(world, run);
    case WaitCause::node:
      return fault_of_owner(world, run);
    case WaitCause::lease:
      return fault_of_lease(world, run);
    case WaitCause::earlier_run:
      return fault_of_earlier(world, run);
    case WaitCause::next_poll:
      if (run.status == RunStatus::paused) {
        if (!has_open_approval(world.stored)) return "no approval can expire.";
        return advances(world, Errand::expire) ? "" : "no expiry is recorded.";
      }
      return advances(world, Errand::resume) ? "" : "the next worker does not claim it.";
    default:
      return "these agents never wait for that.";
  }
}

// Without a decision nothing but the owner of a running run advances it.
std::string WhyJudge::fault_of_approval(const World& world, const RunRow& run) {
  if (!has_open_approval(world.stored)) return "no approval is open.";
  bool is_stuck = run.status != RunStatus::paused || !advances(world, Errand::resume);
  if (!is_stuck) return "it advances without a decision.";
  for (Errand errand : {Errand::approve, Errand::reject}) {
    if (!advances(world, errand)) return "no decision advances it.";
  }
  return "";
}

// Only its owner can continue it, or, if that is gone, another process.
std::string WhyJudge::fault_of_owner(const World& world, const RunRow& run) {
  if (run.status != RunStatus::running) return "no process executes it.";
  if (advances(world, Errand::resume)) return "another process can claim it.";
  World gone{world.stored, without(world.living, run.session), world.now};
  return advances(gone, Errand::resume) ? "" : "it does not continue without its owner.";
}

std::string WhyJudge::fault_of_lease(const World& world, const RunRow& run) {
  if (run.status != RunStatus::running) return "no process executed it.";
  if (!advances(world, Errand::resume)) return "no other process can claim it.";
  World alive{world.stored, with(world.living, run.session), world.now};
  return advances(alive, Errand::resume) ? "it can be claimed from a live owner." : "";
}

std::string WhyJudge::fault_of_earlier(const World& world, const RunRow& run) {
  const Stored& after = after_call(world, Errand::cancel);
  const RunRow* later = after.run_of(run.run);
  if (!later) return "it is gone once the earlier run is cancelled.";
  World next{after, world.living, world.now};
  std::vector<Cause> causes = why_(facts_of(next, *later));
  bool still = std::any_of(causes.begin(), causes.end(),
                           [](const Cause& each) { return each.cause == WaitCause::earlier_run; });
  return still ? "it still waits once the earlier run is cancelled." : "";
}

}  // namespace belay::explorer
