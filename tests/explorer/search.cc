// Long on purpose: one search with all of its moves.

#include "tests/explorer/search.h"

#include <chrono>
#include <sstream>
#include <unordered_map>

#include "tests/explorer/processes.h"
#include "tests/explorer/why_judge.h"

namespace belay::explorer {
namespace {

constexpr std::uint32_t idle = UINT32_MAX;
constexpr std::uint32_t nobody = UINT32_MAX;
// The number of results after which a call counts as one that never ends.
constexpr std::uint32_t longest_max = 40;

// One of the two processes, which differ only in their actions.
struct Process {
  std::uint32_t moment = idle;  // of the call in progress
  // -1: the next call opens a session. Also if the process is idle and no commit names its session:
  // the states are equal.
  std::int16_t session = -1;
  bool is_taken_for_dead = false;
  friend auto operator<=>(const Process&, const Process&) = default;
};

struct State {
  std::uint32_t content = 0;
  std::array<Process, 2> processes;
  bool is_late = false;  // the approval has expired
  std::uint8_t faults = 0;

  Instant now() const { return is_late ? second_day() : first_day(); }
  Living living() const {
    Living living;
    for (const Process& each : processes) {
      if (each.session >= 0 && !each.is_taken_for_dead) living.push_back(each.session);
    }
    return living;
  }
  std::array<std::uint64_t, 3> key() const {
    std::uint64_t rest = faults * 2u + is_late;
    for (const Process& each : processes) {
      rest =
          (rest * 16 + static_cast<std::uint64_t>(each.session + 1)) * 2 + each.is_taken_for_dead;
    }
    return {content, std::uint64_t{processes[0].moment} << 32 | processes[1].moment, rest};
  }
};

struct KeyHash {
  std::size_t operator()(const std::array<std::uint64_t, 3>& key) const {
    std::uint64_t mixed = 0;
    for (std::uint64_t word : key) mixed = (mixed ^ word) * 0x9e3779b97f4a7c15ULL ^ mixed >> 29;
    return mixed;
  }
};

struct Move {
  enum class Kind {
    begin,          // a call starts
    answer,         // the result that a call waits for arrives
    lose_reply,     // a commit is written, and sent again because its reply is lost
    lose_both,      // a commit is written, and its caller receives `uncertain`
    lose_request,   // a commit is not written, and its caller receives `uncertain`
    crash,          // a process dies, and another one replaces it
    take_for_dead,  // a session counts as dead, without the knowledge of its process
    next_day,       // the approval expires
  };
  Kind kind = Kind::answer;
  int process = 0;
  Errand errand = Errand::start;
  std::size_t open = 0;
};

bool is_fault(const Move& move) {
  switch (move.kind) {
    case Move::Kind::begin:
    case Move::Kind::answer:
    case Move::Kind::next_day:
      return false;
    default:
      return true;
  }
}

class Search {
 public:
  explicit Search(const SearchOptions& options)
      : options_(options), processes_(options), why_judge_(processes_, options.why) {}

  SearchReport run();

 private:
  struct Visited {
    State state;
    std::uint32_t from = nobody;
    std::uint16_t move = 0;  // its index in moves_from(from)
    std::uint16_t depth = 0;
  };

  const Stored& content(const State& state) { return processes_.contents().at(state.content); }
  bool has_ended(const State& state);
  bool has_open_approval(const State& state);
  void add_calls(const State& state, int process, std::vector<Move>& moves);
  void add_answers(const State& state, int process, std::vector<Move>& moves);
  std::vector<Move> moves_from(const State& state);
  State after(const State& before, const Move& move, std::vector<std::string>& wrong);
  void begin(State& state, const Move& move, std::vector<std::string>& wrong);
  void finish_calls(State& state, std::vector<std::string>& wrong);
  void answer(State& state, const Move& move, std::vector<std::string>& wrong);
  void hear(State& state, int process, Heard heard, std::vector<std::string>& wrong);
  void end_call(State& state, int process, const Moment& moment, std::vector<std::string>& wrong);
  std::uint32_t visit(const State& state, std::uint32_t from, std::uint16_t move);
  void expand(std::uint32_t place);
  void fail(std::uint32_t place, std::vector<std::string> wrong);
  void find_dead_ends();
  std::string describe(const State& state, const Move& move);
  std::string describe(const State& state);

  SearchOptions options_;
  Processes processes_;
  WhyJudge why_judge_;
  std::vector<Visited> visited_;
  std::unordered_map<std::array<std::uint64_t, 3>, std::uint32_t, KeyHash> places_;
  // Moves that are neither faults nor a cancel, as pairs (to, from) of indexes: the progress of a
  // run.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways_on_;
  SearchReport report_;
};

bool Search::has_ended(const State& state) {
  return content(state).has_ended(options_.shape == Shape::talk ? 2 : 1);
}

bool Search::has_open_approval(const State& state) {
  const Stored& stored = content(state);
  return !stored.approvals.empty() && stored.approvals.front().status == ApprovalStatus::open;
}

// Adds the calls that a process or its user could start in the run's current state. The state can
// be different when the call reads it.
void Search::add_calls(const State& state, int process, std::vector<Move>& moves) {
  auto add = [&](Errand errand) { moves.push_back({Move::Kind::begin, process, errand, 0}); };
  const Stored& stored = content(state);
  if (options_.shape == Shape::talk && stored.runs.size() < 2) {
    // Each key names one run, whichever is stored first.
    add(Errand::start);
    add(Errand::start_next);
  }
  if (!stored.run && options_.shape == Shape::talk) return;
  if (!stored.run) return add(Errand::start);
  if (stored.run->status != RunStatus::paused) add(Errand::resume);
  add(Errand::cancel);
  if (!has_open_approval(state)) return;
  add(Errand::approve);
  add(Errand::reject);
  if (stored.approvals.front().expires_at <= state.now()) add(Errand::expire);
}

void Search::add_answers(const State& state, int process, std::vector<Move>& moves) {
  const Moment& moment = processes_.moment(state.processes[process].moment);
  for (std::size_t open = 0; open < moment.progress.open.size(); ++open) {
    moves.push_back({Move::Kind::answer, process, {}, open});
    bool is_commit = moment.progress.open[open].what == Open::What::commit;
    if (!is_commit || state.faults >= options_.faults) continue;
    moves.push_back({Move::Kind::lose_reply, process, {}, open});
    moves.push_back({Move::Kind::lose_both, process, {}, open});
    moves.push_back({Move::Kind::lose_request, process, {}, open});
  }
}

std::vector<Move> Search::moves_from(const State& state) {
  std::vector<Move> moves;
  const Stored& stored = content(state);
  if (has_ended(state)) return moves;
  for (int process : {0, 1}) {
    const Process& one = state.processes[process];
    bool works = one.moment != idle;
    if (works) {
      add_answers(state, process, moves);
    } else {
      add_calls(state, process, moves);
    }
    if (state.faults >= options_.faults) continue;
    bool owns = one.session >= 0 && stored.run && stored.run->status == RunStatus::running &&
                stored.run->session == session_id(one.session);
    if (works || owns) moves.push_back({Move::Kind::crash, process, {}, 0});
    if (works && !one.is_taken_for_dead) {
      moves.push_back({Move::Kind::take_for_dead, process, {}, 0});
    }
  }
  bool may_pass = !state.is_late && has_open_approval(state) &&
                  stored.approvals.front().expires_at <= second_day();
  if (may_pass) moves.push_back({Move::Kind::next_day, 0, {}, 0});
  return moves;
}

// If the session of a process is dead, the process opens a new one with its next call, as if it had
// died.
void Search::end_call(State& state, int process, const Moment& moment,
                      std::vector<std::string>& wrong) {
  Process& one = state.processes[process];
  one.moment = idle;
  if (one.is_taken_for_dead) one = Process();
  const Ended& ended = *moment.progress.ended;
  if (ended.error) {
    bool is_expected = ended.error->code == ErrorCode::conflict ||
                       (ended.error->code == ErrorCode::uncertain && state.faults > 0);
    if (!is_expected) wrong.push_back("A call failed: " + ended.error->message);
  }
  if (!ended.has_won) return;
  const Stored& stored = content(state);
  if (stored.approvals.empty() || stored.approvals[0].decided_by != decider_of(moment.call)) {
    wrong.push_back("I5: A decision was said to have won, and is not the one.");
  }
}

void Search::hear(State& state, int process, Heard heard, std::vector<std::string>& wrong) {
  while (true) {
    const Moment& next = processes_.hear(state.processes[process].moment, heard, state.living());
    const std::vector<Open>& open = next.progress.open;
    report_.longest = std::max<std::size_t>(report_.longest, next.length);
    if (next.length > longest_max) {
      wrong.push_back("A call does not come to its end.");
      return;
    }
    if (next.progress.ended) return end_call(state, process, next, wrong);
    state.processes[process].moment = next.number;
    if (open.empty()) wrong.push_back("A call waits for nothing, and does not end.");
    if (open.size() != 1 || open.front().what != Open::What::read) return;
    // A read after which the call ends only determines the call's result; it needs no
    // separate move.
    heard = Heard();
    heard.seen = &content(state);
    heard.now = state.now();
    if (!processes_.hear(next.number, heard, state.living()).progress.ended) return;
  }
}

void Search::begin(State& state, const Move& move, std::vector<std::string>& wrong) {
  const Stored& stored = content(state);
  Process& one = state.processes[move.process];
  if (one.session < 0) {
    const Process& other = state.processes[1 - move.process];
    one.session = 0;
    while (stored.names(one.session) || other.session == one.session) ++one.session;
  }
  Call call{one.session, move.errand, &stored, state.now()};
  one.moment = processes_.begin(call).number;
  // A call has no effect before its first read, therefore that read is part of the move.
  Heard heard;
  heard.seen = &stored;
  heard.now = state.now();
  hear(state, move.process, heard, wrong);
}

void Search::answer(State& state, const Move& move, std::vector<std::string>& wrong) {
  const Moment& moment = processes_.moment(state.processes[move.process].moment);
  const Open& open = moment.progress.open[move.open];
  Heard heard;
  heard.open = move.open;
  heard.now = state.now();
  if (open.what == Open::What::read) heard.seen = &content(state);
  if (open.what == Open::What::commit && move.kind != Move::Kind::lose_request) {
    const Written& written = processes_.write(content(state), moment, move.open, state.now());
    wrong.insert(wrong.end(), written.wrong.begin(), written.wrong.end());
    wrong.insert(wrong.end(), written.after->wrong.begin(), written.after->wrong.end());
    state.content = static_cast<std::uint32_t>(written.after->number);
    bool is_told = move.kind == Move::Kind::answer && written.outcome.ok();
    if (is_told) heard.outcome = *written.outcome;
  }
  if (move.kind != Move::Kind::lose_reply) hear(state, move.process, heard, wrong);
}

// The run has ended, and nothing may be written any more. Without writes, the remaining calls
// cannot observe each other: one order is as good as any.
void Search::finish_calls(State& state, std::vector<std::string>& wrong) {
  for (int process : {0, 1}) {
    while (state.processes[process].moment != idle && wrong.empty()) {
      answer(state, {Move::Kind::answer, process, {}, 0}, wrong);
    }
  }
}

State Search::after(const State& before, const Move& move, std::vector<std::string>& wrong) {
  State state = before;
  if (is_fault(move)) ++state.faults;
  switch (move.kind) {
    case Move::Kind::next_day:
      state.is_late = true;
      break;
    case Move::Kind::crash:
      state.processes[move.process] = Process();
      break;
    case Move::Kind::take_for_dead:
      state.processes[move.process].is_taken_for_dead = true;
      break;
    case Move::Kind::begin:
      begin(state, move, wrong);
      break;
    default:
      answer(state, move, wrong);
  }
  if (has_ended(state)) finish_calls(state, wrong);
  for (Process& each : state.processes) {
    bool has_trace = each.session >= 0 && content(state).names(each.session);
    if (each.moment == idle && !has_trace) each = Process();
  }
  if (state.processes[1] < state.processes[0]) std::swap(state.processes[0], state.processes[1]);
  return state;
}

std::uint32_t Search::visit(const State& state, std::uint32_t from, std::uint16_t move) {
  auto [known, is_new] =
      places_.try_emplace(state.key(), static_cast<std::uint32_t>(visited_.size()));
  if (!is_new) return known->second;
  Visited visited;
  visited.state = state;
  visited.from = from;
  visited.move = move;
  if (from != nobody) visited.depth = static_cast<std::uint16_t>(visited_[from].depth + 1);
  report_.depth = std::max<std::size_t>(report_.depth, visited.depth);
  visited_.push_back(visited);
  return known->second;
}

void Search::expand(std::uint32_t place) {
  State state = visited_[place].state;
  if (options_.why) {
    auto wrong = why_judge_.judge(content(state), state.living(), state.now());
    if (!wrong.empty()) return fail(place, std::move(wrong));
  }
  std::vector<Move> moves = moves_from(state);
  for (std::size_t i = 0; i < moves.size() && report_.wrong.empty(); ++i) {
    ++report_.moves;
    std::vector<std::string> wrong;
    State next = after(state, moves[i], wrong);
    if (!wrong.empty()) {
      fail(place, std::move(wrong));
      report_.path.push_back(describe(state, moves[i]));
      return;
    }
    std::uint32_t there = visit(next, place, static_cast<std::uint16_t>(i));
    bool gives_up = moves[i].kind == Move::Kind::begin && moves[i].errand == Errand::cancel;
    if (!is_fault(moves[i]) && !gives_up) ways_on_.emplace_back(there, place);
  }
}

// Records the fault and the moves that lead to the state `place`.
void Search::fail(std::uint32_t place, std::vector<std::string> wrong) {
  report_.wrong = std::move(wrong);
  std::vector<std::uint32_t> places;
  for (std::uint32_t at = place; visited_[at].from != nobody; at = visited_[at].from) {
    places.push_back(at);
  }
  for (auto at = places.rbegin(); at != places.rend(); ++at) {
    const State& before = visited_[visited_[*at].from].state;
    report_.path.push_back(describe(before, moves_from(before)[visited_[*at].move]));
  }
}

// From every state, the run must be able to end without another fault and without a cancel.
void Search::find_dead_ends() {
  std::vector<std::uint32_t> begins(visited_.size() + 1);
  for (const auto& [to, from] : ways_on_) ++begins[to + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::vector<std::uint32_t> froms(ways_on_.size());
  std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
  for (const auto& [to, from] : ways_on_) froms[next[to]++] = from;

  std::vector<bool> can_end(visited_.size());
  std::vector<std::uint32_t> reached;
  for (std::uint32_t place = 0; place < visited_.size(); ++place) {
    if (!has_ended(visited_[place].state)) continue;
    can_end[place] = true;
    reached.push_back(place);
  }
  report_.ends = reached.size();
  while (!reached.empty()) {
    std::uint32_t place = reached.back();
    reached.pop_back();
    for (std::uint32_t i = begins[place]; i < begins[place + 1]; ++i) {
      if (can_end[froms[i]]) continue;
      can_end[froms[i]] = true;
      reached.push_back(froms[i]);
    }
  }
  for (std::uint32_t place = 0; place < visited_.size(); ++place) {
    if (can_end[place]) continue;
    return fail(place, {"I6: The run can't come to its end from here."});
  }
}

std::string Search::describe(const State& state, const Move& move) {
  int session = state.processes[move.process].session;
  std::string who = session < 0 ? "a new process " : "session " + std::to_string(session) + " ";
  std::string what;
  if (move.kind == Move::Kind::next_day) {
    what = "a day passes";
  } else if (move.kind == Move::Kind::crash) {
    what = who + "dies, another takes its place";
  } else if (move.kind == Move::Kind::take_for_dead) {
    what = who + "is taken for dead, and goes on";
  } else if (move.kind == Move::Kind::begin) {
    what = who + "begins: " + std::string(name_of(move.errand));
  } else {
    const Open& open =
        processes_.moment(state.processes[move.process].moment).progress.open[move.open];
    if (open.what == Open::What::read) what = who + "reads";
    if (open.what == Open::What::node) what = who + "ends the node " + open.node;
    if (open.what == Open::What::commit) {
      const Commit& commit = *open.commit;
      what = who + "commits ";
      if (commit.rows.checkpoint) {
        what += "seq " + std::to_string(commit.rows.run->seq) + " epoch " +
                std::to_string(commit.rows.run->epoch) + ", " +
                std::string(name_of(commit.rows.checkpoint->kind)) + " " +
                commit.rows.checkpoint->node;
      } else {
        what += commit.run_guard ? "a pending write" : "a decision alone";
      }
    }
    if (move.kind == Move::Kind::lose_reply) what += "; the reply is lost, it will be sent again";
    if (move.kind == Move::Kind::lose_both) what += "; the reply is lost, it is told so";
    if (move.kind == Move::Kind::lose_request) what += "; the request is lost, it is told so";
  }
  std::vector<std::string> wrong;
  return what + "  ->  " + describe(after(state, move, wrong));
}

std::string Search::describe(const State& state) {
  const Stored& stored = content(state);
  if (!stored.run) return "no run";
  std::string text = std::string(name_of(stored.run->status)) + ", seq " +
                     std::to_string(stored.run->seq) + ", epoch " +
                     std::to_string(stored.run->epoch);
  if (!stored.approvals.empty()) {
    text += ", approval " + std::string(name_of(stored.approvals.front().status));
  }
  return text;
}

SearchReport Search::run() {
  auto began = std::chrono::steady_clock::now();
  visit(State{}, nobody, 0);
  for (std::uint32_t place = 0; place < visited_.size() && report_.wrong.empty(); ++place) {
    expand(place);
  }
  if (report_.wrong.empty()) find_dead_ends();
  report_.states = visited_.size();
  report_.contents = processes_.contents().size();
  report_.played = processes_.played();
  report_.explained = why_judge_.judged();
  report_.causes = why_judge_.kinds();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  report_.seconds = took.count();
  return std::move(report_);
}

}  // namespace

std::string SearchReport::text() const {
  std::ostringstream out;
  out << states << " states, " << moves << " moves, depth " << depth << ", calls of up to "
      << longest << " steps, " << contents << " contents of the store, " << played
      << " parts of calls played, " << ends << " states in which the run has ended, " << seconds
      << " s\n";
  for (const std::string& each : wrong) out << "wrong: " << each << '\n';
  for (std::size_t i = 0; i < path.size(); ++i) out << i + 1 << ". " << path[i] << '\n';
  return out.str();
}

SearchReport search(const SearchOptions& options) { return Search(options).run(); }

}  // namespace belay::explorer
