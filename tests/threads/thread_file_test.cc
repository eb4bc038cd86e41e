// Tests run files of later runs of a thread: each contains the state that the run started from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "service/run_file.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

struct Note {
  std::string text{};
  std::vector<std::string> texts{};
};

struct ThreadFiles : RuntimeFixture {
  Graph<Note> notes = note_graph();
  CheckScope scope;
  std::unique_ptr<Store> other = open_memory_store(clock, random);

  ThreadFiles() {
    runtime->add(notes);
    scope.graphs = {notes.definition()};
  }

  static Graph<Note> note_graph() {
    GraphBuilder<Note> graph{"note"};
    graph.node("keep", [](const Note& note, Context&) { return append(&Note::texts, note.text); });
    graph.approval("review", &Note::text, {.question = "Keep?"})
        .when([](const Note& note) { return note.text == "ask"; })
        .approved(end)
        .rejected(end);
    graph.edge(start, "keep").edge("keep", "review");
    return std::move(graph).build().value();
  }
  RunView note(std::string text, BusyThread if_busy = BusyThread::reject) {
    StartOptions options;
    options.thread = ThreadId("t");
    options.if_busy = if_busy;
    Note input;
    input.text = std::move(text);
    return block_on(loop, runtime->start(notes, std::move(input), options)).value();
  }
  Value exported(std::optional<RunId> run = std::nullopt) {
    return block_on(loop, export_run(*store, scope, ThreadId("t"), run, clock.now(), "belay"))
        .value();
  }
  Result<RunRow> imported(Value file, bool allow_unfinished = false) {
    return block_on(loop, import_run(*other, scope, run_file_from(file).value(), allow_unfinished,
                                     clock, random));
  }
};

TEST_F(ThreadFiles, ALaterRunIsImportedWithTheStateThatItStartedFrom) {
  note("one");
  note("two");
  RunView third = note("three");
  note("four");
  RunRow row = imported(exported(third.row.run)).value();
  EXPECT_EQ(row.run, third.row.run);
  EXPECT_EQ(row.ordinal, 2);
  CheckReport report = block_on(loop, check_store(*other, scope)).value();
  EXPECT_TRUE(report.violations.empty()) << report.violations.front().message;
  runtime.reset();
  std::swap(store, other);
  runtime = process();
  runtime->add(notes);
  RunView there =
      block_on(loop, runtime->status(default_tenant(), ThreadId("t"), third.row.run)).value();
  EXPECT_EQ(to_json(there.state["texts"]), R"(["one","two","three"])");
  RunView next = note("five");
  EXPECT_EQ(next.row.ordinal, 3);
  EXPECT_EQ(to_json(next.state["texts"]), R"(["one","two","three","five"])");
  report = block_on(loop, check_store(*store, scope)).value();
  EXPECT_TRUE(report.violations.empty()) << report.violations.front().message;
}

TEST_F(ThreadFiles, AnImportThatIsRepeatedFindsItsRun) {
  note("one");
  RunView second = note("two");
  Value file = exported();
  EXPECT_EQ(imported(file)->run, second.row.run);
  EXPECT_EQ(imported(file)->run, second.row.run);
}

TEST_F(ThreadFiles, AnExportedFileOfALaterRunIsTheSameAfterItsImport) {
  note("one");
  note("two");
  Value file = exported();
  ASSERT_TRUE(imported(file).ok());
  std::swap(store, other);
  Value again = exported();
  for (const char* member : {"run", "values", "checkpoints"}) {
    EXPECT_EQ(to_json(again[member]), to_json(file[member])) << member;
  }
  std::swap(store, other);
}

TEST_F(ThreadFiles, ARunThatWaitsCannotBeImported) {
  note("ask");
  RunView waiting = note("two", BusyThread::enqueue);
  auto refused = imported(exported(waiting.row.run), true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("waited for earlier runs"));
}

}  // namespace
}  // namespace belay
