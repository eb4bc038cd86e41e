// A run from its stored rows, some of whose bytes are the input: it is restored unchanged or
// rejected. If the chain hash is made to match too, it must only end without a crash.

#include "load/stored_run.h"

#include <algorithm>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "engine/checkpoint.h"
#include "engine/reducers.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {

struct Voyage {
  std::string name{};
  std::vector<std::string> log{};
  std::int64_t sum = 0;
  std::map<std::string, int> table{};
};

namespace {

Graph<Voyage> inner_graph() {
  GraphBuilder<Voyage> graph{"inner"};
  graph.node("note", [](const Voyage&, Context&) { return append(&Voyage::log, "inside"); });
  graph.wait("rest", std::chrono::hours(2));
  graph.edge(start, "note").edge("note", "rest").edge("rest", end);
  return std::move(graph).build().value();
}

Graph<Voyage> outer_graph() {
  GraphBuilder<Voyage> graph{"trip"};
  graph.node("open", [](const Voyage& trip, Context&) {
    return set(&Voyage::name, trip.name + "!").append(&Voyage::log, "open").add(&Voyage::sum, 2);
  });
  graph.node("quick", [](const Voyage&, Context& context) {
    context.publish("quick", Value(true));
    return append(&Voyage::log, "quick").merge(&Voyage::table, "quick", 2);
  });
  graph.approval("review", &Voyage::sum, {.question = "So?"}).approved("last").rejected("last");
  graph.subgraph(
      "inside", inner_graph(), [](const Voyage&) { return Voyage{}; },
      [](const Voyage& inner) { return append(&Voyage::log, inner.log.at(0)); });
  graph.node("last", [](const Voyage&, Context&) { return append(&Voyage::log, "last"); });
  graph.edge(start, "open");
  for (std::string name : {"quick", "review", "inside"}) graph.edge("open", name);
  graph.edge("quick", end).edge("inside", end).edge("last", end);
  return std::move(graph).build().value();
}

// The stored rows of a run that waits partway through a superstep, with a subgraph in progress.
struct Stored {
  Graph<Voyage> graph = outer_graph();
  engine::StoredRun rows = play();
  std::string state = state_of(rows).value();

  engine::StoredRun play() const {
    testing::SimulatedClock clock(*instant_from("2026-01-01T09:00:00Z"));
    testing::SeededRandom random(1);
    testing::SimulatedLoop loop(clock);
    testing::ScriptedModel model;
    auto store = open_memory_store(clock, random);
    auto runtime = Runtime::open(RuntimeParts{*store, loop, clock, random, model}).value();
    runtime->add(graph);
    Voyage begun;
    begun.name = "ana";
    StartOptions options;
    options.thread = ThreadId("t");
    block_on(loop, runtime->start(graph, std::move(begun), options)).value();
    GraphRegistry graphs;
    graphs.add(graph.definition());
    std::function<Result<engine::StoredRun>(Snapshot&)> reader = [&](Snapshot& view) {
      auto row = current_run(view, default_tenant(), ThreadId("t"));
      return row.ok() ? stored_run(view, graphs, *row) : row.error();
    };
    return block_on(loop, read<engine::StoredRun>(*store, std::move(reader))).value();
  }

  Result<std::string> state_of(const engine::StoredRun& stored) const {
    BELAY_TRY(engine::Run run, engine::restore(*graph.definition(), stored));
    return to_json(engine::state_value(*graph.definition(), stored, run));
  }
};

// Replaces one text of the rows by `bytes`. Returns true if the state depends on that text.
bool change(engine::StoredSpace& checkpoint_ns, unsigned place, std::string_view bytes) {
  auto pick = [&](auto& rows) { return rows.empty() ? nullptr : &rows[place % rows.size()]; };
  switch (place / 16 % 6) {
    case 0:
      if (auto* value = pick(checkpoint_ns.values)) value->envelope = json_envelope(bytes);
      return true;
    case 1:
      checkpoint_ns.checkpoint.next_tasks = bytes;
      return true;
    case 2:
      if (auto* value = pick(checkpoint_ns.pending)) value->envelope = json_envelope(bytes);
      return false;
    case 3:
      if (auto* task = pick(checkpoint_ns.tasks)) task->envelope = json_envelope(bytes);
      return false;
    case 4:
      checkpoint_ns.tasks_text = bytes;
      return false;
    default:
      if (auto* value = pick(checkpoint_ns.values)) value->channel = bytes;
      return true;
  }
}

// Makes the chain hash match the changed rows, as an attacker with access to the store could.
void make_fit(engine::StoredSpace& checkpoint_ns, const Digest& origin) {
  std::vector<engine::ChannelVersion> channels;
  std::vector<const ValueRow*> by_channel;
  for (const ValueRow& row : checkpoint_ns.values) by_channel.push_back(&row);
  std::sort(by_channel.begin(), by_channel.end(), [](const ValueRow* a, const ValueRow* b) {
    return std::tie(a->channel, a) < std::tie(b->channel, b);
  });
  for (const ValueRow* each : by_channel) {
    const ValueRow& row = *each;
    auto text = json_in_envelope(row.envelope);
    if (!text.ok()) continue;
    if (channels.empty() || channels.back().name != row.channel) {
      channels.emplace_back().name = row.channel;
    }
    engine::add_version(channels.back(), row.seq, row.kind, *text);
  }
  checkpoint_ns.checkpoint.chain_hash = engine::chain_hash(
      checkpoint_ns.checkpoint.parent.is_null() ? origin : checkpoint_ns.parent_chain_hash,
      checkpoint_ns.checkpoint, channels);
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(StoredRun, "stored_run") {
  using namespace belay;
  static const fuzz::Stored stored;
  engine::StoredRun rows = stored.rows;
  unsigned way = fuzz::take_byte(input);
  unsigned place = fuzz::take_byte(input);
  bool fits = way % 2 == 1;
  bool inside = way % 4 >= 2 && !rows.inner.empty();
  engine::StoredSpace& checkpoint_ns = inside ? rows.inner.begin()->second : rows;
  if (way % 8 >= 6) {
    rows.row.input = json_envelope(input);
  } else if (way % 8 >= 4) {
    rows.row.options = input;
  } else {
    fuzz::change(checkpoint_ns, place, input);
  }
  if (fits) {
    Digest given = sha256(json_in_envelope(rows.row.input).value());
    rows.first->chain_hash = engine::chain_hash(given, *rows.first, {});
    fuzz::make_fit(checkpoint_ns, inside ? sha256(checkpoint_ns.checkpoint.checkpoint_ns) : given);
  }
  auto state = stored.state_of(rows);
  if (!state.ok()) {
    fuzz::require_sound(state.error());
    fuzz::require(
        state.error().code == ErrorCode::corrupt || state.error().code == ErrorCode::invalid,
        "rows that can't be gone on with are corrupt or invalid");
    return;
  }
  fuzz::require(fits || *state == stored.state, "no changed byte makes another state");
}
