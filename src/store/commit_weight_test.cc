// The weight of a commit: each row adds to it, together with its texts.

#include "store/commit_weight.h"

#include <gtest/gtest.h>

#include <functional>

namespace belay::store {
namespace {

const std::string large(10'000, 'x');

struct Part {
  const char* name;
  std::function<void(CommitRows&)> add;  // one row with `large` in one of its texts
  bool weighs = true;                    // its text counts towards the transaction
  bool is_of_table = true;               // its text counts towards its table
};

// Every text that grows with an agent's data.
const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"earlier", [](CommitRows& rows) { rows.earlier.emplace_back().next_tasks = large; }},
      {"inner", [](CommitRows& rows) { rows.inner_checkpoints.emplace_back().next_tasks = large; }},
      {"value", [](CommitRows& rows) { rows.values.emplace_back().envelope = large; }},
      {"event", [](CommitRows& rows) { rows.events.emplace_back().body = large; }},
      {"payload", [](CommitRows& rows) { rows.opened.emplace_back().payload = large; }},
      {"question", [](CommitRows& rows) { rows.opened.emplace_back().question = large; }, false},
      {"edit", [](CommitRows& rows) { rows.opened.emplace_back().edited = large; }, false},
      {"comment", [](CommitRows& rows) { rows.opened.emplace_back().comment = large; }, false},
      {"record", [](CommitRows& rows) { rows.records.emplace_back().envelope = large; }},
      {"index", [](CommitRows& rows) { rows.records.emplace_back().indexed = {{"f", large}}; },
       false},
      {"task", [](CommitRows& rows) { rows.tasks.emplace_back().envelope = large; }},
      {"effect", [](CommitRows& rows) { rows.effects.emplace_back().envelope = large; }},
      {"message", [](CommitRows& rows) { rows.outbox.emplace_back().envelope = large; }},
      {"error", [](CommitRows& rows) { rows.outbox.emplace_back().error = large; }, false},
      {"blob", [](CommitRows& rows) { rows.blobs.emplace_back().envelope = large; }},
      {"rewrite", [](CommitRows& rows) { rows.rewrites.emplace_back().envelope = large; }, true,
       false},
      {"checkpoint", [](CommitRows& rows) { rows.checkpoint.emplace().next_tasks = large; }},
      {"input",
       [](CommitRows& rows) {
         rows.run.emplace().seq = 1;
         rows.run->input = large;
       }},
      {"options",
       [](CommitRows& rows) {
         rows.run.emplace().seq = 1;
         rows.run->options = large;
       }},
      {"failure", [](CommitRows& rows) { rows.run.emplace().error = large; }, false},
      {"reason", [](CommitRows& rows) { rows.run.emplace().reason = large; }, false},
  };
  return all;
}

TEST(CommitWeight, CountsEachRowWithItsTexts) {
  std::size_t empty = weight_of(Commit());
  for (const Part& part : parts()) {
    Commit commit;
    part.add(commit.rows);
    std::size_t weight = weight_of(commit);
    if (part.weighs) {
      EXPECT_GE(weight, empty + large.size()) << part.name;
    }
    EXPECT_LT(weight, empty + 2 * large.size()) << part.name;
    std::size_t of_name = part.name == std::string("index") ? 1 : 0;
    EXPECT_EQ(largest_table_of(commit), part.is_of_table ? large.size() + of_name : 0u)
        << part.name;
  }
}

TEST(CommitWeight, OfAnIndexedFieldTheNameCountsToo) {
  Commit commit;
  commit.rows.records.emplace_back().indexed = {{"field", large}};
  EXPECT_EQ(largest_table_of(commit), large.size() + 5);
}

TEST(CommitWeight, RowsOfOneTableAddUpAndTablesDoNot) {
  for (const Part& part : parts()) {
    if (part.name == std::string("checkpoint") || part.name == std::string("index")) continue;
    Commit once, twice;
    part.add(once.rows);
    part.add(twice.rows);
    bool is_run = twice.rows.run.has_value();
    if (is_run) continue;
    part.add(twice.rows);
    EXPECT_EQ(largest_table_of(twice), 2 * largest_table_of(once)) << part.name;
    if (part.weighs) {
      EXPECT_GE(weight_of(twice), weight_of(once) + large.size()) << part.name;
    }
  }
  Commit both;
  both.rows.values.emplace_back().envelope = large;
  both.rows.events.emplace_back().body = large;
  EXPECT_EQ(largest_table_of(both), large.size());
  both.rows.checkpoint.emplace().next_tasks = large;
  both.rows.earlier.emplace_back().next_tasks = large;
  EXPECT_EQ(largest_table_of(both), 2 * large.size()) << "checkpoints of a run are one table";
}

TEST(CommitWeight, WhatIsWrittenInsteadCountsForItsTables) {
  Commit commit;
  commit.if_expired.emplace().events.emplace_back().body = large;
  EXPECT_EQ(largest_table_of(commit), large.size());
  commit.rows.values.emplace_back().envelope = large + large;
  EXPECT_EQ(largest_table_of(commit), 2 * large.size());
}

TEST(CommitWeight, OfDeletionsGrowsWithTheirNumber) {
  std::size_t empty = weight_of(Commit());
  Commit commit;
  commit.rows.delete_blobs.resize(10);
  std::size_t with_blobs = weight_of(commit);
  EXPECT_GE(with_blobs, empty + 10 * 32) << "a digest is 32 bytes";
  commit.rows.prune.resize(3);
  EXPECT_GE(weight_of(commit), with_blobs + 3 * 4'096);
}

}  // namespace
}  // namespace belay::store
