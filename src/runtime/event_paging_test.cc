// Tests events of large states: a reader returns a few at a time, and all events are complete.

#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

constexpr std::size_t kLarge = 1'500'000;
constexpr int kSteps = 9;

std::size_t bytes_of(const std::vector<StreamEvent>& events) {
  std::size_t bytes = 0;
  for (const StreamEvent& event : events) bytes += text_of(event).size();
  return bytes;
}

struct EventPaging : Events {
  struct Album {
    std::string picture{};
    std::vector<std::string> log{};
  };

  // Replaces a large channel in each step.
  template <typename S>
  static GraphBuilder<S> steps(std::string name, std::string S::* large) {
    GraphBuilder<S> graph{std::move(name)};
    std::string before(start);
    for (int i = 0; i < kSteps; ++i) {
      std::string node = "step" + std::to_string(i);
      graph.node(node, [i, large](const S&, Context&) {
        return set(large, std::string(kLarge, static_cast<char>('a' + i)));
      });
      graph.edge(before, node);
      before = node;
    }
    graph.edge(before, end);
    return graph;
  }

  // Reads all events, batch by batch; `most` is set to the size of the largest batch.
  std::vector<StreamEvent> read_in_batches(Runtime& runtime, EventOptions wanted, std::size_t& most,
                                           std::size_t& batches) {
    auto reader = block_on(loop, runtime.events(std::move(wanted))).value();
    std::vector<StreamEvent> all;
    most = batches = 0;
    while (true) {
      auto some = block_on(loop, reader->next()).value();
      if (some.empty()) return all;
      most = std::max(most, bytes_of(some));
      ++batches;
      for (StreamEvent& event : some) all.push_back(std::move(event));
    }
  }
};

TEST_F(EventPaging, ABatchEndsWithItsBytesAndNotWithTheNumberOfCommits) {
  auto graph = built(steps<Plan>("album", &Plan::title));
  auto runtime = process(graph);
  play(*runtime, graph);
  std::size_t most = 0, batches = 0;
  auto values = read_in_batches(*runtime, options({EventKind::values}), most, batches);
  EXPECT_EQ(values.size(), 1u + kSteps);
  EXPECT_GE(batches, std::size_t{kSteps});
  EXPECT_LT(most, 2 * kLarge) << "one state at a time";
  EXPECT_EQ(values.back().body["title"], Value(std::string(kLarge, 'a' + kSteps - 1)));
  auto all = read_in_batches(*runtime, options(), most, batches);
  EXPECT_LT(most, 3 * kLarge) << "the events of one commit: what changed, and the state";
  std::erase_if(all, [](const StreamEvent& event) { return event.kind != EventKind::values; });
  EXPECT_TRUE(all == values);
}

TEST_F(EventPaging, ACommitOfSeveralLargeEventsIsToldInPartsWithTheSameIds) {
  auto inner = steps<Album>("pictures", &Album::picture).build().value();
  GraphBuilder<Plan> builder{"outer"};
  builder.subgraph(
      "inside", inner, [](const Plan& plan) { return Album{plan.title}; },
      [](const Album& album) { return append(&Plan::log, album.picture.substr(0, 1)); });
  builder.edge(start, "inside").edge("inside", end);
  auto graph = built(std::move(builder));
  auto runtime = process(graph);
  play(*runtime, graph);
  std::size_t most = 0, batches = 0;
  auto all = read_in_batches(*runtime, options(), most, batches);
  EXPECT_LT(most, (std::size_t{4} << 20) + kLarge + 100'000) << "the bound, and one event beyond";
  EXPECT_GT(batches, 5u);
  EventId expected{1, 0};
  std::size_t states = 0;
  for (const StreamEvent& event : all) {
    if (event.id->seq != expected.seq) expected = {expected.seq + 1, 0};
    EXPECT_EQ(*event.id, expected);
    ++expected.index;
    states += event.kind == EventKind::values && !event.checkpoint_ns.empty() ? 1 : 0;
  }
  EXPECT_EQ(states, std::size_t{kSteps} + 1);
  // Continues from within that commit, at any position where a batch can end.
  for (std::size_t i = all.size() / 3; i < all.size(); i += 7) {
    EventOptions rest = options();
    rest.after = all[i].id;
    auto read = read_in_batches(*runtime, rest, most, batches);
    EXPECT_TRUE(read == std::vector<StreamEvent>(all.begin() + static_cast<long>(i) + 1, all.end()))
        << all[i].id->text();
  }
}

TEST_F(EventPaging, ManySmallCommitsAreReadTogether) {
  GraphBuilder<Plan> builder{"small"};
  builder.node("again", logs("again"));
  builder.edge(start, "again");
  auto choose = [](const Plan& plan) { return std::string(plan.log.size() < 200 ? "again" : end); };
  builder.branch("again", choose, {"again", end});
  auto graph = built(std::move(builder));
  auto runtime = process(graph);
  play(*runtime, graph);
  std::size_t most = 0, batches = 0;
  auto all = read_in_batches(*runtime, options({EventKind::updates}), most, batches);
  EXPECT_GE(all.size(), 200u);
  EXPECT_LE(batches, 5u);
}

}  // namespace
}  // namespace belay
