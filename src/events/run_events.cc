#include "events/run_events.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/restore.h"
#include "load/run_values.h"
#include "load/stored_run.h"

namespace belay {
namespace {

// Commits of one read, and the size of their events at which the read ends.
constexpr std::uint64_t page_commits = limits::bounded(64, 2);
constexpr std::size_t read_bytes = 256 * 1024;

bool has_started(const EventCursor& place) {
  return place.of.ordinal == 0 || (place.frame.newest && place.frame.newest->superstep > 0);
}

Result<Done> fold_values(const std::vector<ValueRow>& rows, Value::Object& state) {
  for (const ValueRow& row : rows) {
    BELAY_TRY(Value value, value_in(row.envelope));
    engine::fold(row.kind, std::move(value), state[row.channel]);
  }
  return Done{};
}

// The channels before the first value: with the defaults of the graph, if it is known.
Value unwritten_state(const EventFrame& frame) {
  return frame.graph ? defaults_of(*frame.graph) : Value(Value::Object());
}

// Reads the state before the first commit that will be reported: the input of the run, as long as a
// later run of a thread has not started.
Result<Done> read_state(Snapshot& view, const RunRow& run, EventCursor& place) {
  if (!place.wants(EventKind::values)) return Done{};
  Value whole = unwritten_state(place.frame);
  Value::Object& state = *whole.as_object();
  if (run.ordinal == 0 || !has_started(place)) {
    BELAY_TRY(Value input, value_in(run.input));
    if (Value::Object* given = input.as_object()) {
      for (auto& [name, value] : *given) state.insert_or_assign(name, std::move(value));
    }
  }
  if (place.frame.newest && has_started(place)) {
    ValueFilter filter;
    filter.checkpoint_ns = std::string();
    filter.at_seq = place.frame.newest->state_seq;
    BELAY_TRY(auto rows, run_values(view, run, std::move(filter)));
    BELAY_CHECK(fold_values(rows, state));
  }
  place.frame.state = channels_of(std::move(whole));
  return Done{};
}

// The commit that starts a later run of a thread: its values change the state of the thread.
Result<Done> begin_from_thread(Snapshot& view, EventCursor& place) {
  if (!place.wants(EventKind::values)) return Done{};
  Value whole = unwritten_state(place.frame);
  BELAY_TRY(auto rows, values_before(view, place.of));
  BELAY_CHECK(fold_values(rows, *whole.as_object()));
  place.frame.state = channels_of(std::move(whole));
  return Done{};
}

// Returns the oldest stored commit: 1 unless the run was pruned. Commits have no gaps.
Result<std::uint64_t> oldest_commit(Snapshot& view, const EventCursor& place,
                                    std::uint64_t newest) {
  std::uint64_t gone = 0;
  std::uint64_t there = newest;
  for (std::uint64_t tried = 1; gone + 1 < there; tried = gone + (there - gone) / 2) {
    BELAY_TRY(auto found, checkpoint_at(view, place.of, {}, tried));
    (found ? there : gone) = tried;
  }
  return there;
}

// Sets the position after the commit `seq`, or after the first later one whose tasks are known. A
// superstep is not reported if an older version of Belay has pruned it partly.
Result<Done> stand_after(Snapshot& view, const RunRow& run, std::uint64_t seq, EventCursor& place) {
  for (; seq >= 1 && seq <= run.seq; ++seq) {
    BELAY_TRY(auto checkpoint, checkpoint_at(view, place.of, {}, seq));
    if (!checkpoint) break;
    auto read = read_chosen(view, place.of, *checkpoint, place.frame);
    if (!read.ok() && read.error().code != ErrorCode::not_found) return read;
    if (read.ok() || seq == run.seq) {
      place.frame.newest = std::move(checkpoint);
      break;
    }
  }
  return Done{};
}

}  // namespace

Result<EventCursor> first_place(Snapshot& view, const GraphRegistry& graphs,
                                const EventOptions& options) {
  RunRow run;
  if (options.run) {
    BELAY_TRY(run, run_row(view, options.tenant, *options.run));
  } else {
    BELAY_TRY(run, current_run(view, options.tenant, options.thread));
  }
  if (run.thread != options.thread) {
    return error(ErrorCode::not_found, "Run " + run.run.text() + " does not belong to thread \"" +
                                           options.thread.text + "\".");
  }
  EventCursor place;
  place.of = RunOf(run);
  place.kinds.insert(options.kinds.begin(), options.kinds.end());
  for (int kind = 0; options.kinds.empty() && kind <= static_cast<int>(EventKind::debug); ++kind) {
    place.kinds.insert(static_cast<EventKind>(kind));
  }
  auto graph = graphs.for_version(run.graph, run.graph_hash);
  if (graph.ok()) {
    place.frame.is_exact = (*graph)->hash == run.graph_hash;
    place.frame.graph = *std::move(graph);
  }
  place.after = options.after;
  if (place.after && place.after->seq > run.seq + 1) {
    return error(ErrorCode::invalid, "Thread \"" + run.thread.text + "\" has no event " +
                                         place.after->text() + " yet: it has " +
                                         std::to_string(run.seq) + " commits.");
  }
  BELAY_TRY(std::uint64_t oldest, oldest_commit(view, place, run.seq));
  std::uint64_t anchor = oldest > 1 ? oldest : 0;
  if (place.after && place.after->seq <= anchor) {
    return error(ErrorCode::not_found, "The events after " + place.after->text() + " of thread \"" +
                                           run.thread.text + "\" have been pruned up to commit " +
                                           std::to_string(anchor) +
                                           ". Read without a start event.");
  }
  std::uint64_t stands = place.after && place.after->seq > 1 ? place.after->seq - 1 : anchor;
  BELAY_CHECK(stand_after(view, run, stands, place));
  if (place.after && place.frame.newest && place.frame.newest->seq != stands) {
    return error(ErrorCode::not_found,
                 "The superstep of event " + place.after->text() + " of thread \"" +
                     run.thread.text + "\" has been partly pruned. Read without a start event.");
  }
  BELAY_CHECK(read_state(view, run, place));
  return place;
}

namespace {

// Appends the events of the commits after `seq`, up to `until`, until the batch is large enough.
// Returns the last commit whose events are complete.
Result<std::uint64_t> tell_commits(Snapshot& view, EventMaterial& material, std::uint64_t seq,
                                   std::uint64_t until, EventCursor& place, EventBatch& batch) {
  BELAY_TRY(auto commits, checkpoints_after(view, place.of, {}, seq, until - seq));
  if (commits.empty() || commits.front().seq != seq + 1) {
    return error(ErrorCode::not_found, "The events after commit " + std::to_string(seq) +
                                           " of thread \"" + material.run.thread.text +
                                           "\" have been pruned.");
  }
  EventsAhead events(view, place.of, seq);
  ValuesAhead values(view, place.of, {}, place.commits_ahead);
  for (std::size_t i = 0; i < commits.size(); ++i) {
    BELAY_TRY(material.events, events.of_commit(commits[i].seq));
    std::uint64_t before = place.frame.newest ? place.frame.newest->state_seq : 0;
    BELAY_TRY(auto new_values, values.of_commit(before, commits, i));
    EventFrame as_it_was = place.frame;
    if (!has_started(place) && commits[i].superstep > 0) {
      BELAY_CHECK(begin_from_thread(view, place));
    }
    CommitReporter teller(view, place, material, commits[i].seq, batch);
    BELAY_CHECK(teller.report(commits[i], new_values));
    if (teller.is_cut()) {
      // The next read repeats the commit from its first event and skips the events in the batch.
      place.frame = std::move(as_it_was);
      return seq;
    }
    seq = commits[i].seq;
    if (batch.events.size() >= limits::page_rows_max || batch.bytes() >= read_bytes) break;
  }
  return seq;
}

}  // namespace

Result<EventPage> next_page(Snapshot& view, EventCursor from) {
  EventPage page;
  page.place = std::move(from);
  EventCursor& place = page.place;
  EventMaterial material;
  EventBatch batch;
  BELAY_TRY(material.run, run_row(view, place.of.tenant, place.of.run));
  std::uint64_t seq = place.frame.newest ? place.frame.newest->seq : 0;
  std::uint64_t until = std::min(seq + page_commits, material.run.seq);
  BELAY_TRY(material.approvals, approvals_of(view, place.of));
  if (until > seq) {
    BELAY_TRY(seq, tell_commits(view, material, seq, until, place, batch));
  }
  page.is_behind = seq < material.run.seq;
  page.is_over = !page.is_behind && is_final(material.run.status);
  if (!page.is_behind && !page.is_over) {
    material.events.clear();
    CommitReporter teller(view, place, material, seq + 1, batch);
    BELAY_CHECK(teller.tell_asked());
    page.is_behind = teller.is_cut();
  }
  page.events = std::move(batch.events);
  return page;
}

}  // namespace belay
