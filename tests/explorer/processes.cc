#include "tests/explorer/processes.h"

#include <algorithm>

#include "belay/testing.h"
#include "store/commit_check.h"

namespace belay::explorer {
namespace {

std::uint64_t number_of(Instant instant) {
  return static_cast<std::uint64_t>(instant.time_since_epoch().count());
}

// Changes the guard to the stored values, as if the store did not check it.
void break_guard(Broken broken, const Stored& stored, Commit& commit) {
  if (!commit.run_guard || commit.run_guard->seq == 0 || !stored.run) return;
  if (broken == Broken::epoch) commit.run_guard->epoch = stored.run->epoch;
  if (broken == Broken::seq) commit.run_guard->seq = stored.run->seq;
}

}  // namespace

Processes::Processes(const SearchOptions& options)
    : broken_(options.broken), player_(options.shape), contents_(player_.graph().definition()) {}

Progress Processes::play(const Moment& moment, const IsAlive& is_alive) {
  std::vector<const Heard*> heard;
  for (const Moment* each = &moment; each->before; each = each->before) {
    heard.push_back(&each->heard);
  }
  std::reverse(heard.begin(), heard.end());
  return player_.play(moment.call, heard, is_alive);
}

const Moment& Processes::begin(const Call& call) {
  Key key{static_cast<std::uint64_t>(call.session), static_cast<std::uint64_t>(call.errand),
          call.began->number, number_of(call.now)};
  auto [known, is_new] = begun_.try_emplace(key, static_cast<std::uint32_t>(moments_.size()));
  if (!is_new) return moments_[known->second];
  Moment& moment = moments_.emplace_back();
  moment.number = known->second;
  moment.call = call;
  IsAlive nobody = [](const SessionId&) -> bool { BELAY_ASSERT(!"asked before it has read"); };
  moment.progress = play(moment, nobody);
  return moment;
}

const Seen& Processes::keep(const Stored& stored, Seen seen) {
  std::deque<Seen>& kept = seen_[stored.number];
  auto known = std::find(kept.begin(), kept.end(), seen);
  return known == kept.end() ? kept.emplace_back(std::move(seen)) : *known;
}

const Moment* Processes::find(const std::vector<std::uint32_t>& among, const Heard& heard,
                              const Seen* seen, const IsAlive& is_alive) const {
  for (std::uint32_t each : among) {
    const Moment& known = moments_[each];
    const auto& asked = known.heard.sessions;
    bool is_it =
        known.heard.open == heard.open && known.heard.outcome == heard.outcome &&
        known.heard.now == heard.now &&
        std::all_of(asked.begin(), asked.end(),
                    [&](auto& session) { return is_alive(session.first) == session.second; }) &&
        (!seen || *known.seen == *seen);
    if (is_it) return &known;
  }
  return nullptr;
}

const Moment& Processes::hear(std::uint32_t number, const Heard& heard, const Living& living) {
  Moment& moment = moments_[number];
  IsAlive is_alive = [&living](const SessionId& session) {
    return std::any_of(living.begin(), living.end(),
                       [&](int each) { return session_id(each) == session; });
  };
  Key key{number, heard.open, heard.seen ? heard.seen->number : 0, number_of(heard.now)};
  std::vector<std::uint32_t>& found = found_[key];
  if (const Moment* known = find(found, heard, nullptr, is_alive)) return *known;

  Seen seen;
  if (heard.seen) {
    ObservingSnapshot snapshot(heard.seen->tables);
    // The result of this reader is not used: the call is executed below and reads again.
    (void)moment.progress.open[heard.open].reader(snapshot);
    seen = snapshot.take_seen();
    if (const Moment* known = find(moment.after, heard, &seen, is_alive)) {
      found.push_back(known->number);
      return *known;
    }
  }
  Moment& next = moments_.emplace_back();
  next.number = static_cast<std::uint32_t>(moments_.size() - 1);
  next.call = moment.call;
  next.before = &moment;
  next.length = moment.length + 1;
  next.heard = heard;
  if (heard.seen) next.seen = &keep(*heard.seen, std::move(seen));
  next.progress = play(next, is_alive);
  next.heard.sessions = next.progress.sessions;
  moment.after.push_back(next.number);
  found.push_back(next.number);
  return next;
}

const Written& Processes::write(const Stored& stored, const Moment& moment, std::size_t open,
                                Instant now) {
  Key key{stored.number, moment.number, open, number_of(now)};
  auto known = written_.find(key);
  if (known != written_.end()) return known->second;
  const Commit& wanted = *moment.progress.open[open].commit;
  store::Tables tables = stored.tables;
  testing::SimulatedClock clock(broken_ == Broken::expiry ? first_day() : now);
  Result<CommitOutcome> outcome = CommitOutcome::fenced;
  if (auto checked = store::check_commit(wanted); !checked.ok()) {
    outcome = checked.error();
  } else {
    Commit commit = wanted;
    break_guard(broken_, stored, commit);
    outcome = tables.apply(commit, clock);
  }
  Written written{outcome, &contents_.keep(std::move(tables)), {}};
  written.wrong = judge_commit(stored, *written.after, wanted, outcome, now);
  return written_.emplace(key, std::move(written)).first->second;
}

}  // namespace belay::explorer
