// Digests in an encrypted store: it stores no digest of plaintext with which a guess could be
// tested.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/forwarding_store.h"
#include "tests/conformance/encrypted_stores.h"

namespace belay::conformance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = StoredEnvelope::Kind;

const Instant kFarAway = Instant(std::chrono::hours(24 * 365 * 200));
const std::string kSent = R"([{"node":"n","superstep":1,"input":"no"}])";

std::string bytes_of(const Digest& digest) { return {digest.begin(), digest.end()}; }

Digest turned(Digest digest, std::size_t bit) {
  digest.at(bit / 8) ^= static_cast<std::uint8_t>(1u << bit % 8);
  return digest;
}

// A run with an approval, a subgraph's checkpoint, an interrupt inside a node, and tasks with sent
// inputs: every kind of digest that a store receives.
struct Asked {
  explicit Asked(Store& store, const std::string& name = "a") : script(name), call(store) {
    call.commit(script.first());
    Commit sent = script.next();
    sent.rows.checkpoint->next_tasks = kSent;
    keep(*sent.rows.checkpoint);
    call.commit(sent);
    Commit pending = script.pending({{"list", WriteOp::append}});
    CheckpointRow inner = script.inner_checkpoint("inner", 1);
    inner.chain_hash = sha256("inner " + name);
    keep(inner);
    pending.rows.inner_checkpoints.push_back(inner);
    call.commit(pending);
    Commit ask = script.ask(kFarAway);
    keep(*ask.rows.checkpoint);
    call.commit(ask);
    digests.push_back(script.opened().payload_hash);
  }

  Commit edit() {
    Commit decision = script.decide(ApprovalStatus::approved);
    decision.rows.decided->edited = json_envelope("\"no\"");
    decision.rows.decided->edited_hash = sha256("\"no\"");
    keep(*decision.rows.checkpoint);
    digests.push_back(sha256("\"no\""));
    return decision;
  }

  std::vector<CheckpointRow> checkpoints() {
    return call.checkpoints({default_tenant(), script.row.run});
  }

  void keep(const CheckpointRow& row) { digests.push_back(row.chain_hash); }

  RunScript script;
  Caller call;
  std::vector<Digest> digests;
};

// Executes a function once between a read of the store and the write that follows it.
class Interrupted final : public ForwardingStore {
 public:
  Interrupted(Store& inner, std::function<void()> once)
      : ForwardingStore(inner), once_(std::move(once)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (once_) std::exchange(once_, nullptr)();
    return inner().commit(std::move(commit));
  }

 private:
  std::function<void()> once_;
};

class SealedDigests : public testing::TestWithParam<StoreKind> {
 protected:
  SealedDigests() : inner_(GetParam().open(folder_.path(), clock_, random_).value()) {}

  static EncryptionOptions ring(const std::string& letters, bool accept_plain = false) {
    EncryptionOptions encryption = all_of_encryption();
    encryption.keys = keys_named(letters);
    encryption.accept_plaintext = accept_plain;
    return encryption;
  }
  std::unique_ptr<Store> with(EncryptionOptions encryption) {
    return make_encrypted_store(*inner_, random_, std::move(encryption));
  }
  std::vector<StoredEnvelope> kept(Kind kind) {
    EnvelopeFilter filter;
    filter.tenant = default_tenant();
    filter.every_kind = true;
    auto all = Caller(*inner_).envelopes(filter);
    std::erase_if(all, [&](const StoredEnvelope& each) { return each.kind != kind; });
    return all;
  }
  // Returns the bytes of everything in the inner store.
  std::string everything_below() {
    std::string bytes;
    for (Kind kind : {Kind::envelope, Kind::digest, Kind::tasks}) {
      for (const StoredEnvelope& each : kept(kind)) bytes += each.envelope + "\n";
    }
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path())) {
      std::ifstream in(file.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(in), {});
    }
    return bytes;
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
  void replace(const StoredEnvelope& stored, std::string bytes) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back({stored.position, sha256(stored.envelope), std::move(bytes)});
    EXPECT_EQ(Caller(*inner_).commit(std::move(commit)), CommitOutcome::applied);
  }
  // Restores each chain hash to a form that older versions of Belay stored next to encrypted
  // values: the plain digest, or the masked form of the following version.
  void unmask(const std::vector<CheckpointRow>& rows) {
    for (const StoredEnvelope& each : kept(Kind::digest)) {
      for (const CheckpointRow& row : rows) {
        if (each.subject.ends_with(row.id.text())) replace(each, bytes_of(row.chain_hash));
      }
    }
  }
  void take_codes_away() {
    for (const StoredEnvelope& each : kept(Kind::digest)) {
      replace(each, each.envelope.substr(0, 32) + each.envelope.substr(64));
    }
  }
  Result<std::vector<CheckpointRow>> checkpoints(Store& store, const RunId& run) {
    std::unique_ptr<EventLoop> loop = make_event_loop();
    std::function<Result<std::vector<CheckpointRow>>(Snapshot&)> reader = [run](Snapshot& view) {
      CheckpointFilter filter;
      filter.tenant = default_tenant();
      filter.run = run;
      return view.checkpoints(filter);
    };
    return block_on<Result<std::vector<CheckpointRow>>>(
        *loop, read<std::vector<CheckpointRow>>(store, std::move(reader)));
  }

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<Store> inner_;
};

TEST_P(SealedDigests, NoneOfPlainTextLiesBelowAndReadersGetThemBack) {
  for (bool has_key : {true, false}) {
    auto store = has_key ? with(ring("a")) : with(EncryptionOptions());
    Asked asked(*store, has_key ? "sealed" : "plain");
    EXPECT_EQ(asked.call.commit(asked.edit()), CommitOutcome::applied);
    std::string below = everything_below();
    for (const Digest& digest : asked.digests) {
      EXPECT_EQ(below.find(bytes_of(digest)) == below.npos, has_key);
      EXPECT_EQ(below.find(to_hex(digest)), below.npos);
    }
    auto rows = asked.checkpoints();
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].chain_hash, asked.digests.at(4));
    EXPECT_EQ(rows[1].chain_hash, asked.digests.at(2));
    EXPECT_THAT(rows[1].masked_hash, IsEmpty());
    ApprovalRow approval = asked.call.approval(asked.script.opened().interrupt);
    EXPECT_EQ(approval.payload_hash, asked.script.opened().payload_hash);
    EXPECT_EQ(approval.edited_hash, sha256("\"no\""));
  }
  std::size_t parts = 0;
  for (const StoredEnvelope& each : kept(Kind::part)) parts += each.envelope.empty();
  EXPECT_GT(parts, 5u);
  EXPECT_EQ(look(ring("a", true)).plaintext_digests, 5u + 2 + 1 + parts)
      << "of the run without a key";
}

TEST_P(SealedDigests, WhatWasSentToATaskIsSealedAndOtherTasksStayReadable) {
  auto store = with(ring("a"));
  Asked asked(*store);
  EXPECT_EQ(asked.checkpoints().at(1).next_tasks, kSent);
  std::size_t sealed = 0;
  for (const StoredEnvelope& each : kept(Kind::tasks)) {
    EXPECT_THAT(each.envelope, Not(HasSubstr("input")));
    sealed += each.envelope.starts_with('[') ? 0 : 1;
  }
  EXPECT_EQ(sealed, 1u);
}

TEST_P(SealedDigests, AGuardIsHeldAgainstWhatIsShown) {
  auto store = with(ring("a"));
  Asked asked(*store);
  Commit decision = asked.edit();
  for (Digest wrong :
       {sha256("another"), Digest{}, turned(asked.script.opened().payload_hash, 9)}) {
    Commit forged = decision;
    forged.approval_guard->payload_hash = wrong;
    EXPECT_EQ(asked.call.commit(std::move(forged)), CommitOutcome::approval_closed);
  }
  EXPECT_EQ(asked.call.commit(decision), CommitOutcome::applied);
  EXPECT_EQ(asked.call.commit(decision), CommitOutcome::applied) << "it was sent again";
}

TEST_P(SealedDigests, AnApprovalWhoseDigestDoesNotFitIsRefused) {
  auto store = with(ring("a"));
  Caller call(*store);
  RunScript script("a");
  call.commit(script.first());
  Commit ask = script.ask(kFarAway);
  ask.rows.opened[0].payload_hash = sha256("another");
  auto refused = call.try_commit(std::move(ask));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST_P(SealedDigests, ADecisionGoesThroughWhileTheStoreIsBeingEncrypted) {
  Asked asked(*inner_);
  Interrupted meanwhile(*inner_, [&] {
    auto report = bring_under(ring("a", true));
    ASSERT_TRUE(report.ok()) << report.error().message;
  });
  auto store = make_encrypted_store(meanwhile, random_, ring("a", true));
  EXPECT_EQ(Caller(*store).commit(asked.edit()), CommitOutcome::applied);
}

TEST_P(SealedDigests, OfAPlainStoreAreMaskedWithIt) {
  Asked asked(*inner_);
  asked.call.commit(asked.edit());
  std::string before = asked.call.rows();
  auto report = bring_under(ring("a", true));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  for (const StoredEnvelope& each : kept(Kind::digest)) {
    for (const Digest& digest : asked.digests) {
      EXPECT_EQ(each.envelope.find(bytes_of(digest)), std::string::npos) << each.subject;
    }
  }
  for (const StoredEnvelope& each : kept(Kind::tasks)) {
    EXPECT_THAT(each.envelope, Not(HasSubstr("input")));
  }
  auto store = with(ring("a"));
  EXPECT_EQ(Caller(*store).rows(), before);
  EXPECT_EQ(look(ring("a")).plaintext_digests, 0u);
}

TEST_P(SealedDigests, GoUnderTheNextKeyWithTheValues) {
  std::string before;
  {
    auto store = with(ring("a"));
    Asked asked(*store);
    asked.call.commit(asked.edit());
    before = asked.call.rows();
  }
  auto of_both = with(ring("ba"));
  Asked later(*of_both, "later");
  std::string both = later.call.rows();
  auto report = bring_under(ring("ba"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->complete);
  auto store = with(ring("b"));
  EXPECT_EQ(Caller(*store).rows(), both) << "the old key is not needed any more";
  EXPECT_EQ(look(ring("b")).keys.size(), 1u);
  EXPECT_EQ(bring_under(ring("ba"))->rewritten, 0u);
}

// A process that can write to the store could insert such a digest, so an encrypted store does not
// accept it.
TEST_P(SealedDigests, ThatAnOlderBelayKeptAreRefusedUntilTheStoreIsEncryptedAnew) {
  for (bool is_masked : {false, true}) {
    auto store = with(ring("a"));
    Asked asked(*store, is_masked ? "masked" : "plain");
    auto rows = asked.checkpoints();
    std::string before = asked.call.rows();
    is_masked ? take_codes_away() : unmask(rows);
    auto refused = checkpoints(*store, asked.script.row.run);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_THAT(refused.error().message, HasSubstr("encrypt the store"));
    EXPECT_GE(look(ring("a", true)).plaintext_digests, rows.size());
    EXPECT_EQ(Caller(*with(ring("a", true))).rows(), before);

    auto rotated = bring_under(ring("a"));
    ASSERT_FALSE(rotated.ok()) << "a rotation must not make it genuine";
    EXPECT_EQ(rotated.error().code, ErrorCode::corrupt);
    auto report = bring_under(ring("a", true));
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(look(ring("a")).plaintext_digests, 0u);
    EXPECT_EQ(Caller(*store).rows(), before);
    EXPECT_EQ(asked.call.commit(asked.edit()), CommitOutcome::applied) << "and is carried on";
  }
}

TEST_P(SealedDigests, AreNotHandedOnWithoutTheirKey) {
  Asked asked(*with(ring("a")));
  EncryptionOptions other = ring("a");
  other.keys = KeyRing::from_text("key-a:" + std::string(64, 'f') + "\n").value();
  for (EncryptionOptions encryption : {EncryptionOptions(), ring("b"), other}) {
    auto refused = checkpoints(*with(encryption), asked.script.row.run);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("\"key-a\""));
  }
}

TEST_P(SealedDigests, NoChangedBitIsTakenForTheDigest) {
  auto store = with(ring("a"));
  Asked asked(*store);
  auto rows = asked.checkpoints();
  StoredEnvelope newest;
  for (const StoredEnvelope& each : kept(Kind::digest)) {
    if (each.subject.ends_with(rows[0].id.text())) newest = each;
  }
  std::string bytes = newest.envelope;
  ASSERT_GT(bytes.size(), 68u);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    replace(newest, changed);
    auto found = checkpoints(*store, asked.script.row.run);
    ASSERT_FALSE(found.ok()) << bit;
    bool is_of_the_key = bit >= 64 * 8;
    EXPECT_EQ(found.error().code == ErrorCode::corrupt, !is_of_the_key || bit < 68 * 8) << bit;
    newest.envelope = changed;
  }
  replace(newest, bytes.substr(0, 34));
  EXPECT_EQ(checkpoints(*store, asked.script.row.run).error().code, ErrorCode::corrupt);
}

TEST_P(SealedDigests, OfAnotherCommitIsNotTakenForIt) {
  auto store = with(ring("a"));
  Asked asked(*store);
  auto rows = asked.checkpoints();
  auto digests = kept(Kind::digest);
  std::string first;
  for (const StoredEnvelope& each : digests) {
    if (each.subject.ends_with(rows[2].id.text())) first = each.envelope;
  }
  for (const StoredEnvelope& each : digests) {
    if (each.subject.ends_with(rows[0].id.text())) replace(each, first);
  }
  auto found = checkpoints(*store, asked.script.row.run);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
}

INSTANTIATE_TEST_SUITE_P(Over, SealedDigests, testing::ValuesIn(bare_store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
