// Tests the bill of materials that each commit stores, and the rules for a run whose bill is not
// that of the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/run_driver.h"
#include "load/declared_programs.h"
#include "load/rehearsal.h"
#include "tests/support/materials_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Materials, AreStoredWithEachCommitAndChangeWithTheOwner) {
  begin();
  ProgramForm large{.model = "openai:large"};
  EXPECT_EQ(status(large).materials["model"], Value("openai:small")) << "nothing was executed";
  ASSERT_EQ(resume(large).value().row.status, RunStatus::paused);
  ASSERT_EQ(resume(large).value().row.status, RunStatus::completed);
  std::vector<std::string> all = models();
  ASSERT_GE(all.size(), 4u);
  EXPECT_EQ(all.front(), "openai:small");
  EXPECT_EQ(all.back(), "openai:large");
  EXPECT_TRUE(std::is_sorted(all.rbegin(), all.rend())) << "the bill changes once";
  EXPECT_EQ(status().materials["model"], Value("openai:large"));
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(violations(large), "");
}

TEST_F(Materials, OfACancelledRunAreThoseOfItsLastOwner) {
  begin();
  auto runtime = process(steps({.model = "openai:large"}));
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
  ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
  runtime.reset();
  EXPECT_THAT(models(), ::testing::Each("openai:small"));
  EXPECT_EQ(violations(), "");
}

TEST_F(Materials, OfACopyOfAnEndedRunAreThoseThatItWasExecutedWith) {
  begin();
  ASSERT_EQ(resume().value().row.status, RunStatus::paused);
  ASSERT_EQ(resume().value().row.status, RunStatus::completed);
  auto runtime = process(steps({.model = "openai:large"}));
  ForkOptions wanted;
  wanted.from = ThreadId("t");
  wanted.copy = true;
  auto copied = block_on(loop, runtime->fork(wanted));
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_EQ(copied->materials["model"], Value("openai:small"));
  wanted.copy = false;
  wanted.seq = 1;
  auto forked = block_on(loop, runtime->fork(wanted));
  ASSERT_TRUE(forked.ok()) << forked.error().message;
  EXPECT_EQ(forked->materials["model"], Value("openai:large")) << "it is executed again";
}

TEST_F(Materials, ThatAreRefusedLeaveTheRunUnchangedForAProgramThatHasThem) {
  begin();
  ProgramForm strict{.prompt = "Be kind.", .model = "openai:large", .refused = {"model"}};
  RunRow before = status().row;
  auto refused = resume(strict);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("model"));
  EXPECT_EQ(status(strict).row, before) << "it can still be read";
  {
    auto runtime = process(steps(strict));
    ForkOptions fork;
    fork.from = ThreadId("t");
    auto forked = block_on(loop, runtime->fork(std::move(fork)));
    ASSERT_FALSE(forked.ok());
    EXPECT_EQ(forked.error().code, ErrorCode::invalid);
  }
  ProgramForm kind{.prompt = "Be kind.", .refused = {"model"}};
  EXPECT_EQ(resume(kind).value().row.status, RunStatus::paused) << "only the prompt differs";
}

// A model with a name, as the models of settings have.
class NamedModel final : public Model {
 public:
  explicit NamedModel(std::string name) : name_(std::move(name)) {}
  Task<Result<ModelReply>> generate(ModelRequest) override { co_return ModelReply(); }
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

TEST_F(Materials, NameTheDefaultModelOfTheProcess) {
  auto in_process_with = [&](const std::string& name, auto call) {
    NamedModel named(name);
    RuntimeParts parts{store, loop, clock, random, named};
    auto runtime = Runtime::open(parts).value();
    runtime->add(steps({.model = "", .refused = {"model"}}));
    return call(*runtime);
  };
  auto begins = [&](Runtime& runtime) {
    StartOptions options;
    options.thread = ThreadId("t");
    JsonGraph graph = steps({.model = ""});
    return block_on(loop, runtime.start(graph, Value::Object(), options));
  };
  auto resumes = [&](Runtime& runtime) {
    return block_on(loop, runtime.resume(default_tenant(), ThreadId("t")));
  };
  RunView begun = in_process_with("openai:small", begins).value();
  EXPECT_EQ(begun.materials["model"], Value("openai:small"));
  auto refused = in_process_with("openai:large", resumes);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("model"));
  EXPECT_EQ(in_process_with("openai:small", resumes).value().row.status, RunStatus::paused);
}

TEST_F(Materials, ThatAreRefusedDoNotPreventACancel) {
  begin();
  auto runtime = process(steps({.model = "openai:large", .refused = {"model"}}));
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana"));
  ASSERT_TRUE(cancelled.ok()) << cancelled.error().message;
  EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
}

TEST_F(Materials, ThatAreRefusedKeepAQueuedRunFromAWorker) {
  JsonGraph old = steps();
  StartOptions options;
  options.thread = ThreadId("t");
  block_on(loop, process(old)->enqueue(old, Value::Object(), options, Instant())).value();
  RunRow before = status().row;
  auto runtime = process(steps({.model = "openai:large", .refused = {"model"}}));
  std::vector<std::string> errors;
  WorkerOptions work;
  work.on_error = [&errors](const Error& why) { errors.push_back(why.message); };
  Spawned working;
  loop.post([&] {
    working = spawn<Result<std::size_t>>(loop, runtime->run_worker(std::move(work)),
                                         [](const Result<std::size_t>&) {});
  });
  loop.run_until(clock.now() + 10min);
  EXPECT_EQ(status().row, before);
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors.front(), HasSubstr("model"));
}

TEST_F(Materials, AreMigratedOnceEvenIfTheProcessDiesBeforeTheStateIsWritten) {
  begin();
  ProgramForm kind{.prompt = "Be kind.", .migrates = true};
  ASSERT_EQ(resume(kind).value().row.status, RunStatus::paused);
  ASSERT_EQ(resume(kind).value().row.status, RunStatus::completed);
  Value state = status(kind).state;
  EXPECT_EQ(to_json(state["log"]), R"(["one!","two!"])");
  EXPECT_EQ(state["note"], Value("!"));
  EXPECT_EQ(violations(kind), "");
}

TEST_F(Materials, AreJudgedByARehearsal) {
  begin();
  auto verdict = [&](const ProgramForm& form) {
    return block_on(loop, rehearse_upgrade(*kept, {steps(form).definition()})).value().at(0);
  };
  EXPECT_EQ(verdict({}).verdict, UpgradeVerdict::continues);
  EXPECT_EQ(verdict({.prompt = "Be kind."}).verdict, UpgradeVerdict::continues);
  EXPECT_EQ(verdict({.prompt = "Be kind.", .migrates = true}).verdict, UpgradeVerdict::migrates);
  RehearsedRun refused = verdict({.prompt = "Be kind.", .refused = {"prompts"}});
  EXPECT_EQ(refused.verdict, UpgradeVerdict::refused);
  EXPECT_THAT(refused.reason, HasSubstr("prompts"));
}

TEST_F(Materials, AreReadByProgramsThatIgnoreThemAndWrittenOnlyIfTheyAreDeclared) {
  begin();
  std::string text =
      engine::without_materials(R"([{"version":"00","materials":{"model":"m"}}])", Digest{});
  EXPECT_EQ(text, R"([{"version":"00"}])");
  EXPECT_EQ(engine::without_materials("[]", Digest{}), "[]");
  JsonGraphBuilder plain{"plain"};
  plain.channel("log", {.kind = JsonKind::array});
  plain.node("one", [](const Value&, Context&) { return append("log", "one"); });
  plain.edge(start, "one").edge("one", end);
  JsonGraph graph = std::move(plain).build().value();
  auto runtime = process(graph);
  RunView ended = block_on(loop, runtime->start(graph, Value::Object(), {})).value();
  EXPECT_TRUE(ended.materials.is_null());
}

TEST_F(Materials, OfOtherProcessesAreDeclaredUntilTheyEnd) {
  auto graphs = std::make_shared<GraphRegistry>();
  graphs->add(steps().definition());
  const Digest version = steps().definition()->hash;
  auto worker = process(steps());
  auto asking = process();
  auto others = [&] {
    return block_on(loop, other_programs(*kept, default_tenant(), asking->session())).value();
  };
  auto declare = [&](const SessionId& session) {
    auto records = program_declaration(*kept, default_tenant(), session, graphs);
    auto saved = block_on(loop, std::move(records)).value();
    block_on(loop, save_records(*kept, default_tenant(), std::move(saved))).value();
  };
  EXPECT_TRUE(others().has_undeclared);
  EXPECT_TRUE(others().might_continue("anything", version));
  declare(worker->session());
  EXPECT_FALSE(others().has_undeclared);
  EXPECT_TRUE(others().might_continue("steps", version));
  EXPECT_FALSE(others().might_continue("steps", Digest{}));
  EXPECT_FALSE(others().might_continue("anything", version));
  worker.reset();
  EXPECT_FALSE(others().might_continue("steps", version));
  declare(asking->session());
  std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader = [](Snapshot& view) {
    RecordQuery query;
    query.tenant = default_tenant();
    query.collection = "belay.programs";
    return view.records(query);
  };
  auto kept_rows = block_on(loop, read<std::vector<StoredRecord>>(*kept, std::move(reader)));
  EXPECT_EQ(kept_rows.value().size(), 1u) << "the declaration of the ended process is deleted";
}

}  // namespace
}  // namespace belay
