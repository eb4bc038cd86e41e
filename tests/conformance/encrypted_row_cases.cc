// Rows of an encrypted store: the inner store contains no text that a person wrote, and a row's
// content cannot be changed without the key.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/encrypted/envelope_sealer.h"
#include "store/row_part.h"
#include "tests/conformance/encrypted_stores.h"
#include "tests/conformance/told_run.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = StoredEnvelope::Kind;

class SealedRows : public testing::TestWithParam<StoreKind> {
 protected:
  SealedRows() : inner_(GetParam().open(folder_.path(), clock_, random_).value()) {}

  std::unique_ptr<Store> with(const std::string& letters, bool accept_plain = false) {
    return make_encrypted_store(*inner_, random_, ring(letters, accept_plain));
  }
  static EncryptionOptions ring(const std::string& letters, bool accept_plain = false) {
    EncryptionOptions encryption = all_of_encryption();
    encryption.keys = letters.empty() ? KeyRing() : keys_named(letters);
    encryption.accept_plaintext = accept_plain;
    return encryption;
  }
  Result<ReencryptReport> bring_under(EncryptionOptions encryption) {
    std::unique_ptr<EventLoop> loop = make_event_loop();
    return block_on<Result<ReencryptReport>>(
        *loop, reencrypt(*inner_, random_, std::move(encryption), default_tenant()));
  }
  EncryptionReport look(EncryptionOptions encryption) {
    std::unique_ptr<EventLoop> loop = make_event_loop();
    return block_on<Result<EncryptionReport>>(
               *loop, inspect_encryption(*inner_, random_, std::move(encryption), default_tenant()))
        .value();
  }
  // Returns everything in the inner store: rows, envelopes, and the files of a store that has
  // files.
  std::string everything_below() {
    std::string bytes = Caller(*inner_).all();
    EnvelopeFilter filter;
    filter.tenant = default_tenant();
    filter.every_kind = true;
    for (const StoredEnvelope& each : Caller(*inner_).envelopes(filter)) {
      bytes += each.envelope;
      for (const std::string& text : each.texts) bytes += text + "\n";
    }
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path())) {
      std::ifstream in(file.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(in), {});
    }
    return bytes;
  }
  // Replaces a row of the inner store by a copy that `change` has modified.
  void forge_run(const RunScript& script, const std::function<void(RunRow&)>& change) {
    RunScript next = script;
    next.row = Caller(*inner_).run(script.row.run);
    RunRow kept = next.row;
    Commit commit = next.next_with({});
    RunRow& row = *commit.rows.run;
    row.status = commit.rows.checkpoint->status = kept.status;
    row.seal = kept.seal;
    change(row);
    commit.rows.checkpoint->status = row.status;
    EXPECT_EQ(Caller(*inner_).commit(commit), CommitOutcome::applied);
  }
  void forge_decision(const ToldRun& told, const std::function<void(ApprovalRow&)>& change) {
    ApprovalRow asked = Caller(*inner_).approval(told.open);
    Commit commit;
    commit.tenant = default_tenant();
    commit.approval_guard = ApprovalGuard{told.open, asked.payload_hash};
    commit.rows.decided = asked;
    commit.rows.decided->status = ApprovalStatus::approved;
    commit.rows.decided->decided_by = "mallory";
    commit.rows.decided->decided_at = asked.created_at;
    change(*commit.rows.decided);
    EXPECT_EQ(Caller(*inner_).commit(commit), CommitOutcome::applied);
  }
  void expect_corrupt(const Result<std::string>& read, const std::string& words) {
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << read.error().message;
    EXPECT_THAT(read.error().message, HasSubstr(words));
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<Store> inner_;
};

TEST_P(SealedRows, NothingThatAPersonWroteStandsInPlain) {
  auto store = with("a");
  ToldRun told(*store, "a");
  ASSERT_GE(told.words.size(), 20u);
  std::string below = everything_below();
  for (const std::string& word : told.words) EXPECT_EQ(below.find(word), below.npos) << word;
  EXPECT_NE(below.find(told.script.row.thread.text), below.npos) << "names can be looked for";
  auto read = all_of(*store, told);
  ASSERT_TRUE(read.ok()) << read.error().message;
  for (const std::string& word : told.words) {
    bool is_index = word.find("indexed") != word.npos;  // indexed and not displayed
    EXPECT_TRUE(is_index || read->find(word) != read->npos) << word;
  }
}

TEST_P(SealedRows, WithoutAKeyTheTextsStandInTheirColumns) {
  auto store = with("");
  ToldRun told(*store, "a");
  auto read = all_of(*inner_, told);
  ASSERT_TRUE(read.ok());
  for (const char* where : {"error", "comment", "question", "decider", "refusal", "options"}) {
    EXPECT_THAT(*read, HasSubstr("told-" + std::string(where)));
  }
}

TEST_P(SealedRows, AStoreThatIsEncryptedLaterHidesTheTextsOfBefore) {
  auto plain = with("");
  ToldRun told(*plain, "a");
  std::string before = all_of(*plain, told).value();
  EXPECT_FALSE(all_of(*with("a"), told).ok());
  auto report = bring_under(ring("a", true));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  std::string below = Caller(*inner_).all();
  for (const std::string& word : told.words) EXPECT_EQ(below.find(word), below.npos) << word;
  auto read = all_of(*with("a"), told);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, before);
  auto sealed = with("a");
  RecordQuery query{default_tenant(), "notes", told.script.row.user, "", "", "", ""};
  auto records = Caller(*sealed).records(query);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].seal, "") << "it is of the row below";
  EXPECT_EQ(look(ring("a")).plaintext_digests, 0u);
  EXPECT_EQ(look(ring("a")).unreadable, 0u);
  EXPECT_EQ(bring_under(ring("a"))->rewritten, 0u);
}

TEST_P(SealedRows, AnotherKeyTakesOverTheSealsAndWhatIsSearchedBy) {
  std::string before;
  std::unique_ptr<ToldRun> told;
  {
    auto store = with("a");
    told = std::make_unique<ToldRun>(*store, "a");
    before = all_of(*store, *told).value();
  }
  EXPECT_EQ(all_of(*with("ba"), *told).value(), before) << "some under each key";
  auto report = bring_under(ring("ba"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  auto read = all_of(*with("b"), *told);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, before);
  EXPECT_EQ(look(ring("b")).keys.size(), 1u);
}

TEST_P(SealedRows, WithoutTheKeyEachReadIsRefusedAndNothingIsTakenForAbsent) {
  auto store = with("a");
  ToldRun told(*store, "a");
  for (const char* letters : {"", "b"}) {
    auto without = with(letters);
    auto read = all_of(*without, told);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::invalid) << read.error().message;
    std::unique_ptr<EventLoop> loop = make_event_loop();
    std::function<Result<std::vector<StoredRecord>>(Snapshot&)> by_field = [&](Snapshot& view) {
      return view.records(
          {default_tenant(), "notes", told.script.row.user, "", "mood", told.indexed[0]});
    };
    auto found = block_on<Result<std::vector<StoredRecord>>>(
        *loop, belay::read<std::vector<StoredRecord>>(*without, std::move(by_field)));
    ASSERT_FALSE(found.ok()) << "an index under another key must not look empty";
    EXPECT_EQ(found.error().code, ErrorCode::invalid);
  }
}

TEST_P(SealedRows, AnApprovalThatSomebodySetToApprovedIsRefused) {
  auto store = with("a");
  ToldRun told(*store, "a");
  forge_decision(told, [](ApprovalRow&) {});
  expect_corrupt(all_of(*store, told), "decision " + told.open.text());
  ApprovalFilter marked;
  marked.tenant = default_tenant();
  marked.interrupt = told.open;
  marked.with_damaged = true;
  auto shown = Caller(*store).approvals(marked);
  ASSERT_EQ(shown.size(), 1u) << "whose it is can be told all the same";
  EXPECT_EQ(shown[0].run, told.script.row.run);
  EXPECT_FALSE(json_in_envelope(shown[0].payload).ok());
}

TEST_P(SealedRows, ADecisionOfAnotherApprovalOrAnotherVerdictIsRefused) {
  auto store = with("a");
  for (const char* name : {"a", "b"}) {
    ToldRun told(*store, name);
    ApprovalRow decided = Caller(*inner_).approval(told.script.opened().interrupt);
    ASSERT_FALSE(decided.decision_seal.empty());
    bool is_other_verdict = name == std::string("b");
    forge_decision(told, [&](ApprovalRow& row) {
      row.decided_by.clear();
      row.decision_seal = decided.decision_seal;
      row.decided_at = decided.decided_at;
      row.edited = decided.edited;
      if (is_other_verdict) row.status = ApprovalStatus::rejected;
    });
    expect_corrupt(all_of(*store, told), "decision " + told.open.text());
  }
}

TEST_P(SealedRows, ARunWhoseRowWasChangedIsRefused) {
  std::vector<std::function<void(RunRow&)>> changes{
      [](RunRow& row) { row.status = RunStatus::completed; },
      [](RunRow& row) { row.outcome = "saved"; },
      [](RunRow& row) { row.node = "saveSummary"; },
      [](RunRow& row) { row.session = SessionId(); },
      [](RunRow& row) { row.lost_claims = 7; },
      [](RunRow& row) { row.due_at = row.updated_at; },
      [](RunRow& row) { row.retry_count += 1; },
      [](RunRow& row) { row.seal.clear(); },
      [](RunRow& row) { row.error_code = "corrupt"; }};
  auto store = with("a");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ToldRun told(*store, "run" + std::to_string(i));
    // The unchanged row with the next seq is rejected too: its seal is bound to the old seq.
    forge_run(told.script, changes[i]);
    expect_corrupt(all_of(*store, told), "run " + told.script.row.run.text());
    auto page = Caller(*store).runs({.tenant = default_tenant()});
    EXPECT_EQ(page.size(), 2 * (i + 1)) << "one forged row does not hide the others";
  }
}

// Until a thread could be edited, its seal contained no texts, and bound nothing else than now.
TEST_P(SealedRows, AThreadOfBeforeThreadsHadTitlesIsReadAndGetsOne) {
  auto store = with("a");
  RunScript script("old");
  Commit first = script.first();
  ThreadRow thread = *first.rows.thread;
  encrypted::EnvelopeSealer sealer(ring("a"), random_);
  store::RowPart part = store::part_of(thread);
  part.texts.clear();
  ASSERT_TRUE(sealer.seal(default_tenant(), part).ok());
  EXPECT_EQ(Caller(*store).commit(first), CommitOutcome::applied);
  Commit old;
  old.tenant = default_tenant();
  old.rows.thread_edit = ThreadEdit{thread, Instant{}};
  EXPECT_EQ(Caller(*inner_).commit(old), CommitOutcome::applied);
  ThreadRow read = Caller(*store).threads({default_tenant(), thread.thread}).at(0);
  EXPECT_EQ(read, *first.rows.thread);

  Commit edit = old;
  edit.rows.thread_edit->row = read;
  edit.rows.thread_edit->row.title = "told-title";
  edit.rows.thread_edit->row.updated_at = clock_.now();
  EXPECT_EQ(Caller(*store).commit(edit), CommitOutcome::applied);
  EXPECT_EQ(everything_below().find("told-title"), std::string::npos);
  EXPECT_TRUE(bring_under(ring("ba")).ok());
  auto under_b = Caller(*with("b")).threads({default_tenant(), thread.thread});
  EXPECT_EQ(under_b.at(0).title, "told-title");
  old.rows.thread_edit->row.updated_at = clock_.now() + std::chrono::hours(1);
  old.rows.thread_edit->expected_updated_at = clock_.now();
  EXPECT_EQ(Caller(*inner_).commit(old), CommitOutcome::applied);
  auto marked = Caller(*with("ba")).threads({.tenant = default_tenant()});
  ASSERT_EQ(marked.size(), 1u);
  EXPECT_TRUE(marked[0].user.empty()) << "its old seal does not bind the time of its edit";
}

TEST_P(SealedRows, AnOfferedRunIsReadAloneAndRefusedThen) {
  auto store = with("a");
  RunScript script("offered");
  Caller(*store).commit(script.first());
  forge_run(script, [&](RunRow& row) {
    row.status = RunStatus::queued;
    row.due_at = clock_.now();
  });
  PollFilter filter;
  filter.tenant = default_tenant();
  filter.session = *store->open_session();
  filter.now = clock_.now() + std::chrono::hours(1);
  clock_.advance(std::chrono::hours(1));
  auto offered = Caller(*store).poll_runs(filter);
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_TRUE(offered[0].seal.empty());
}

TEST_P(SealedRows, AnEffectThatSomebodySaidToHaveFailedIsRefused) {
  auto store = with("a");
  ToldRun told(*store, "a");
  EffectFilter filter;
  filter.tenant = default_tenant();
  filter.run = told.script.row.run;
  auto kept = Caller(*inner_).effects(filter);
  ASSERT_EQ(kept.size(), 2u);
  for (EffectRow& row : kept) {
    if (row.status != EffectStatus::intended) continue;
    EXPECT_FALSE(row.envelope.empty()) << "what is not known yet is sealed too";
    Commit outcome;
    outcome.tenant = default_tenant();
    outcome.rows.effects.push_back(row);
    outcome.rows.effects[0].status = EffectStatus::failed;
    EXPECT_EQ(Caller(*inner_).commit(outcome), CommitOutcome::applied);
  }
  expect_corrupt(all_of(*store, told), "effect");
}

TEST_P(SealedRows, ALateOutcomeOfAFencedProcessIsTaken) {
  auto store = with("a");
  ToldRun told(*store, "a");
  EffectRow outcome = told.script.effect("mail", EffectStatus::done, 2);
  outcome.envelope = json_envelope("\"sent\"");
  Commit late;
  late.tenant = default_tenant();
  late.rows.effects.push_back(outcome);
  EXPECT_EQ(Caller(*store).commit(late), CommitOutcome::applied);
  auto read = all_of(*store, told);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(*read, HasSubstr("sent"));
}

TEST_P(SealedRows, WhatTheStoreClosesByItselfStaysReadable) {
  auto store = with("a");
  ToldRun told(*store, "a");
  told.script.row.status = RunStatus::cancelled;
  Commit end = told.script.next_with({});
  end.rows.run->status = end.rows.checkpoint->status = RunStatus::cancelled;
  end.rows.ends_run = true;
  EXPECT_EQ(Caller(*store).commit(end), CommitOutcome::applied);
  auto read = all_of(*store, told);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(*read, HasSubstr("closed"));
  EXPECT_THAT(*read, HasSubstr("uncertain"));
}

// An import writes the decision of an approval only if it has one, or votes.
TEST_P(SealedRows, ImportedApprovalsWithAndWithoutVotesAreReencrypted) {
  auto store = with("a");
  RunScript script("abroad");
  Commit commit = script.first();
  commit.imports = true;
  ApprovalRow closed = script.question("closed");
  closed.seq = script.row.seq;
  closed.status = ApprovalStatus::closed;
  ApprovalRow open = script.question("open");
  open.seq = script.row.seq;
  std::string votes = R"({"votes":[]})";
  open.edited = json_envelope(votes);
  open.edited_hash = sha256(votes);
  commit.rows.opened = {closed, open};
  ASSERT_EQ(Caller(*store).commit(commit), CommitOutcome::applied);
  EnvelopeFilter filter;
  filter.tenant = default_tenant();
  filter.every_kind = true;
  std::vector<std::string> decisions;
  for (const StoredEnvelope& each : Caller(*inner_).envelopes(filter)) {
    if (each.subject.starts_with("decision ")) decisions.push_back(each.subject);
  }
  EXPECT_THAT(decisions, testing::ElementsAre("decision " + open.interrupt.text()));
  auto report = bring_under(ring("ba"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  auto under_b = with("b");
  EXPECT_EQ(Caller(*under_b).approval(closed.interrupt).status, ApprovalStatus::closed);
  EXPECT_EQ(Caller(*under_b).approval(open.interrupt).edited, open.edited);
}

INSTANTIATE_TEST_SUITE_P(Over, SealedRows, testing::ValuesIn(bare_store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
