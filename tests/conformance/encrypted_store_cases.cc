// Long on purpose: one suite of encryption for every store.

// Requirements for encrypted stores only: the contents of the inner store, keys that change while
// other processes write, and bytes that were changed without the key.

#include <gmock/gmock.h>

#include <thread>

#include "store/envelope_subject.h"
#include "store/forwarding_store.h"
#include "tests/conformance/encrypted_stores.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;

const std::string kSecret = "slept four hours and told nobody about it, not even at breakfast";

// Commits of one run with a value, an approval, a record, a task, an effect and a message, all of
// which contain the secret.
std::vector<Commit> telling(const std::string& name) {
  RunScript script(name);
  script.row.input = json_envelope("{\"note\":\"" + kSecret + "\"}");
  std::vector<Commit> commits{script.first(), script.next()};
  Commit& second = commits.back();
  second.rows.values.front().envelope = json_envelope("\"" + kSecret + "\"");
  second.rows.records.push_back(record_put(name, "{\"content\":\"" + kSecret + "\"}"));
  TaskRow task;
  task.run = script.row.run;
  task.superstep = 1;
  task.task = TaskId(derived_uuid("task"));
  task.envelope = json_envelope("{\"draft\":\"" + kSecret + "\"}");
  second.rows.tasks.push_back(task);
  EffectRow effect;
  effect.run = script.row.run;
  effect.task = task.task;
  effect.name = "send";
  effect.envelope = json_envelope("\"" + kSecret + "!\"");
  effect.status = EffectStatus::done;
  second.rows.effects.push_back(effect);
  OutboxRow message;
  message.run = script.row.run;
  message.seq = script.row.seq;
  message.topic = "told";
  message.envelope = json_envelope("\"" + kSecret + "?\"");
  second.rows.outbox.push_back(message);
  commits.push_back(script.ask(Instant(std::chrono::hours(24 * 365 * 200))));
  ApprovalRow& asked = commits.back().rows.opened.front();
  asked.payload = json_envelope("\"" + kSecret + ".\"");
  asked.payload_hash = sha256("\"" + kSecret + ".\"");
  return commits;
}

// A store whose process stops after a given number of commits.
class StopsAfter final : public ForwardingStore {
 public:
  StopsAfter(Store& inner, int commits) : ForwardingStore(inner), left_(commits) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (left_-- > 0) co_return co_await inner().commit(std::move(commit));
    co_return error(ErrorCode::unavailable, "It has died.");
  }

 private:
  int left_;
};

class EncryptedStore : public testing::TestWithParam<StoreKind> {
 protected:
  EncryptedStore() : inner_(GetParam().open(folder_.path(), clock_, random_).value()) {}

  std::unique_ptr<Store> with(EncryptionOptions encryption) {
    return make_encrypted_store(*inner_, random_, std::move(encryption));
  }
  std::vector<StoredEnvelope> stored() {
    EnvelopeFilter filter;
    filter.tenant = default_tenant();
    return Caller(*inner_).envelopes(filter);
  }
  void write(Store& store, const std::string& name) {
    Caller caller(store);
    for (Commit& commit : telling(name)) {
      EXPECT_EQ(caller.commit(std::move(commit)), CommitOutcome::applied);
    }
  }
  Result<ReencryptReport> encrypt(EncryptionOptions encryption) {
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
  // Returns the records of "ana", or the error of the read.
  Result<std::vector<StoredRecord>> records(Store& store) {
    std::unique_ptr<EventLoop> loop = make_event_loop();
    std::function<Result<std::vector<StoredRecord>>(Snapshot&)> reader = [](Snapshot& view) {
      RecordQuery query;
      query.tenant = default_tenant();
      query.collection = "notes";
      query.user = UserId("ana");
      return view.records(query);
    };
    return block_on<Result<std::vector<StoredRecord>>>(
        *loop, read<std::vector<StoredRecord>>(store, std::move(reader)));
  }
  // Returns whether a reader with these keys reads exactly these rows.
  bool reads(const std::string& rows, const std::string& letters) {
    EncryptionOptions encryption = all_of_encryption();
    encryption.keys = keys_named(letters);
    auto reader = with(std::move(encryption));
    return Caller(*reader).rows() == rows;
  }
  void replace(const StoredEnvelope& stored, std::string envelope) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back({stored.position, sha256(stored.envelope), std::move(envelope)});
    EXPECT_EQ(Caller(*inner_).commit(std::move(commit)), CommitOutcome::applied);
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<Store> inner_;
};

TEST_P(EncryptedStore, NothingThatWasToldLiesBelowInPlain) {
  for (std::size_t blob_above : {std::size_t{16}, std::size_t{1} << 20}) {
    EncryptionOptions encryption = all_of_encryption();
    encryption.blob_above = blob_above;
    auto store = with(encryption);
    write(*store, "run " + std::to_string(blob_above));
  }
  std::size_t count = 0;
  for (const StoredEnvelope& each : stored()) {
    if (each.envelope.empty()) continue;
    ++count;
    EXPECT_EQ(each.envelope.find("slept"), std::string::npos) << each.subject;
    EXPECT_THAT(each.envelope.substr(0, 60), HasSubstr("aes256gcm;k=key-a")) << each.subject;
  }
  EXPECT_GE(count, 14u);
}

TEST_P(EncryptedStore, OneValueInManyRowsIsStoredOnce) {
  EncryptionOptions encryption;
  encryption.blob_above = 1'000;
  auto store = with(encryption);
  Caller caller(*store);
  std::string large = "\"" + std::string(5'000, 'a') + "\"";
  for (int i = 0; i < 10; ++i) {
    caller.commit(import_of({record_put("note " + std::to_string(i), large)}));
  }
  auto found = records(*store);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 10u);
  for (const StoredRecord& record : *found) EXPECT_EQ(record.envelope, json_envelope(large));
  std::size_t bytes = 0;
  for (const StoredEnvelope& each : stored()) bytes += each.envelope.size();
  EXPECT_LT(bytes, 6'000u);
}

TEST_P(EncryptedStore, ALargeValueIsForgottenWithTheLastRowThatNamesIt) {
  for (EncryptionOptions encryption : {EncryptionOptions(), all_of_encryption()}) {
    encryption.blob_above = 1'000;
    auto store = with(encryption);
    Caller caller(*store);
    std::string shared = "\"" + std::string(5'000, 'a') + "\"";
    std::string own = "\"" + std::string(5'000, 'b') + "\"";
    caller.commit(import_of({record_put("1", shared), record_put("2", shared)}));
    caller.commit(import_of({record_put("3", own)}));
    auto forget = [&] {
      std::unique_ptr<EventLoop> loop = make_event_loop();
      EncryptionOptions ring = encryption;
      return block_on<Result<BlobReport>>(
                 *loop, delete_unused_blobs(*inner_, random_, std::move(ring), default_tenant()))
          .value();
    };
    BlobReport report = forget();
    EXPECT_EQ(report.blobs, 2u);
    EXPECT_EQ(report.deleted, 0u);
    for (const char* key : {"1", "3"}) {
      RecordPut erased = record_put(key, "");
      erased.envelope.clear();
      caller.commit(import_of({erased}));
    }
    EXPECT_EQ(forget().deleted, 1u) << "the other one still has a name";
    auto left = records(*store);
    ASSERT_TRUE(left.ok()) << left.error().message;
    ASSERT_EQ(left->size(), 1u);
    EXPECT_EQ(left->front().envelope, json_envelope(shared));
    RecordPut last = record_put("2", "");
    last.envelope.clear();
    caller.commit(import_of({last}));
    EXPECT_EQ(forget().deleted, 1u);
    for (const StoredEnvelope& each : stored()) {
      EXPECT_EQ(each.subject.find("blob"), std::string::npos) << each.subject;
    }
  }
}

TEST_P(EncryptedStore, WithoutTheKeyNoLargeValueIsForgotten) {
  auto store = with(all_of_encryption());
  Caller(*store).commit(import_of({record_put("1", "\"" + kSecret + "\"")}));
  std::unique_ptr<EventLoop> loop = make_event_loop();
  auto refused = block_on<Result<BlobReport>>(
      *loop, delete_unused_blobs(*inner_, random_, EncryptionOptions(), default_tenant()));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("\"key-a\""));
  EXPECT_TRUE(records(*store).ok());
}

TEST_P(EncryptedStore, AnEncryptedStoreIsUnreadableWithoutItsKey) {
  auto store = with(all_of_encryption());
  write(*store, "a");
  auto found = records(*inner_);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(json_in_envelope(found->front().envelope).ok());
  EncryptionOptions other = all_of_encryption();
  other.keys = keys_named("b");
  for (EncryptionOptions encryption : {EncryptionOptions(), other}) {
    auto without = with(encryption);
    auto refused = records(*without);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("\"key-a\""));
  }
}

TEST_P(EncryptedStore, PlainTextThatSomebodySlippedInIsRefused) {
  Caller(*inner_).commit(import_of({record_put("forged", "{\"risk\":0}")}));
  auto store = with(all_of_encryption());
  auto refused = records(*store);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("6:forged is plaintext"));
  auto laundered = encrypt(all_of_encryption());
  ASSERT_FALSE(laundered.ok()) << "rotation must not make it genuine";
  EXPECT_EQ(laundered.error().code, ErrorCode::corrupt);
}

TEST_P(EncryptedStore, AMissingBlobIsCorrupt) {
  EncryptionOptions encryption = all_of_encryption();
  auto store = with(encryption);
  Caller(*store).commit(import_of({record_put("1", "\"" + kSecret + "\"")}));
  auto moved = with(encryption);
  StoredEnvelope reference;
  for (const StoredEnvelope& each : stored()) {
    if (each.subject.starts_with("record")) reference = each;
  }
  TemporaryFolder elsewhere;
  auto other = GetParam().open(elsewhere.path(), clock_, random_).value();
  RecordPut put = record_put("1", "1");
  put.envelope = reference.envelope;
  Caller(*other).commit(import_of({put}));
  auto without_blob = make_encrypted_store(*other, random_, encryption);
  auto refused = records(*without_blob);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("which does not exist"));
}

TEST_P(EncryptedStore, ChangedBytesAreToldByTheirRow) {
  auto store = with(all_of_encryption());
  Caller(*store).commit(import_of({record_put("1", "1")}));
  StoredEnvelope only = stored().at(0);
  std::string changed = only.envelope;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  replace(only, changed);
  auto refused = records(*store);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr(only.subject));
  EncryptionReport report = look(all_of_encryption());
  EXPECT_EQ(report.unreadable, 1u);
  EXPECT_THAT(report.first_fault, HasSubstr(only.subject));
}

// A page of several rows still contains the other rows; only a read of the damaged row alone fails.
TEST_P(EncryptedStore, ARunWhoseInputWasChangedIsAnErrorByItselfAndHidesNoOthers) {
  auto store = with(all_of_encryption());
  write(*store, "a");
  write(*store, "b");
  auto runs = [&](std::optional<RunId> run, std::size_t limit) {
    std::unique_ptr<EventLoop> loop = make_event_loop();
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [run, limit](Snapshot& view) {
      RunFilter filter;
      filter.tenant = default_tenant();
      filter.run = run;
      filter.limit = limit;
      return view.runs(filter);
    };
    return block_on<Result<std::vector<RunRow>>>(
        *loop, read<std::vector<RunRow>>(*store, std::move(reader)));
  };
  RunId damaged = RunScript("a").row.run;
  RunId sound = RunScript("b").row.run;
  for (const StoredEnvelope& each : stored()) {
    if (each.subject != belay::store::subject_of_input(damaged).row) continue;
    std::string changed = each.envelope;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    replace(each, changed);
  }
  auto alone = runs(damaged, 1);
  ASSERT_FALSE(alone.ok()) << alone->at(0).input;
  EXPECT_EQ(alone.error().code, ErrorCode::corrupt);
  EXPECT_EQ(runs(sound, 1)->size(), 1u);
  auto page = runs(std::nullopt, 2);
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->size(), 2u);
  for (const RunRow& row : *page) {
    bool opens = json_in_envelope(row.input).ok();
    EXPECT_EQ(opens, row.run == sound);
  }
}

TEST_P(EncryptedStore, APlainStoreIsEncryptedBlobsIncluded) {
  EncryptionOptions plain;
  plain.blob_above = 16;
  auto store = with(plain);
  write(*store, "a");
  std::string before = Caller(*store).rows();
  EncryptionOptions encryption = all_of_encryption();
  encryption.accept_plaintext = true;
  auto report = encrypt(encryption);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->rewritten, 6u);
  EXPECT_TRUE(reads(before, "a"));
  EncryptionReport found = look(all_of_encryption());
  EXPECT_EQ(found.unreadable, 0u) << found.first_fault;
  EXPECT_EQ(found.keys.count(""), 0u);
  // References have new names: the old names were hashes of the plaintext that they refer to.
  auto again = encrypt(encryption);
  EXPECT_EQ(again->rewritten, 0u) << "what is done is skipped";
}

TEST_P(EncryptedStore, AfterARotationTheOldKeyIsNotNeeded) {
  auto store = with(all_of_encryption());
  write(*store, "a");
  std::string before = Caller(*store).rows();
  EncryptionOptions both = all_of_encryption();
  both.keys = keys_named("ba");
  EXPECT_TRUE(reads(before, "ba"));
  auto report = encrypt(both);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  EXPECT_TRUE(reads(before, "b"));
  EXPECT_EQ(look(both).keys.count("key-a"), 0u);
}

TEST_P(EncryptedStore, ARotationThatWasStoppedGoesOnWhereItWas) {
  auto store = with(all_of_encryption());
  Caller caller(*store);
  std::string large(300'000, ' ');
  for (char& c : large) c = static_cast<char>('a' + random_.bits() % 26);
  for (int i = 0; i < 6; ++i) {
    large[1] = static_cast<char>('0' + i);
    caller.commit(import_of({record_put("note " + std::to_string(i), "\"" + large + "\"")}));
  }
  std::string before = caller.rows();
  EncryptionOptions both = all_of_encryption();
  both.keys = keys_named("ba");
  std::uint64_t done_before = 0;
  for (int stop = 0; stop < 2; ++stop) {
    StopsAfter stopping(*inner_, 1);
    std::unique_ptr<EventLoop> loop = make_event_loop();
    auto report = block_on<Result<ReencryptReport>>(
        *loop, reencrypt(stopping, random_, both, default_tenant()));
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(reads(before, "ba")) << "some of it under each key";
    std::uint64_t done = look(both).keys["key-b"];
    EXPECT_GT(done, done_before) << "what was done is kept, and the next one goes on";
    done_before = done;
  }
  auto report = encrypt(both);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  EXPECT_TRUE(reads(before, "b"));
}

TEST_P(EncryptedStore, OthersWriteWhileKeysAreRotated) {
  EncryptionOptions old_ring = all_of_encryption();
  EncryptionOptions new_ring = all_of_encryption();
  old_ring.keys = keys_named("ab");
  new_ring.keys = keys_named("ba");
  auto store = with(new_ring);
  {
    auto before = with(old_ring);
    for (int i = 0; i < 100; ++i) {
      Caller(*before).commit(import_of({record_put("note " + std::to_string(i), "\"old\"")}));
    }
  }
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      Caller caller(*store);
      for (int i = w; i < 100; i += 4) {
        std::string text = i % 2 == 0 ? "\"new\"" : "\"new " + kSecret + "\"";
        caller.commit(import_of({record_put("note " + std::to_string(i), text)}));
      }
    });
  }
  auto report = encrypt(new_ring);
  for (std::thread& writer : writers) writer.join();
  ASSERT_TRUE(report.ok()) << report.error().message;
  report = encrypt(new_ring);
  ASSERT_TRUE(report.ok() && report->complete);
  EncryptionOptions only_new = all_of_encryption();
  only_new.keys = keys_named("b");
  auto reader = with(only_new);
  auto found = records(*reader);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 100u);
  for (const StoredRecord& record : *found) {
    EXPECT_THAT(record.envelope, HasSubstr("new")) << "a writer's value was lost: " << record.key;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, EncryptedStore, testing::ValuesIn(bare_store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
