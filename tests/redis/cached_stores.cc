// Stores with a Redis in front of them, for the conformance suite: with one that responds, one that
// is unavailable, and one that returns wrong entries. No fault of Redis may be visible. After each
// commit of a run, it is read as a process that continues it would read it, which is the read that
// Redis serves.

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>

#include "redis/cached_store.h"
#include "store/forwarding_store.h"
#include "tests/conformance/store_suite.h"
#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using tests::RedisServer;

RedisServer& shared_redis() {
  static RedisServer server;
  return server;
}

// Returns the URL of a port on which no process listens after this function has returned.
std::string url_of_nobody() {
  RedisServer gone;
  return gone.url();
}

// Changes the entries of one Redis: deletes them, or replaces them by those of another run or by
// older ones. Threading: lie() can be called from any thread.
class Liar {
 public:
  explicit Liar(Client& client) : client_(client) {}

  void lie() {
    std::lock_guard lock(mutex_);
    auto page = client_.call_and_wait({"KEYS", client_.name("*")});
    if (!page.ok()) return;
    for (const Reply& key : page->items) {
      auto entry = client_.call_and_wait({"GET", key.text});
      if (!entry.ok() || entry->kind != Reply::Kind::text) continue;
      std::string& older = seen_.try_emplace(key.text, entry->text).first->second;
      switch (++lies_ % 4) {
        case 0:
          client_.send({"DEL", key.text});
          break;
        case 1:
          client_.send({"SET", key.text, older});
          break;
        case 2:
          client_.send({"SET", key.text, seen_.begin()->second});
          break;
        default:
          older = entry->text;
      }
    }
    // Commands are executed in order: earlier ones have been executed when PING returns.
    (void)client_.call_and_wait({"PING"});
  }

 private:
  Client& client_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, std::string> seen_;
  std::uint64_t lies_ = 0;
};

// A run and its values, in one snapshot.
struct Going {
  RunRow row;
  std::vector<ValueRow> values;
};

Result<Going> going_run(Snapshot& view, const TenantId& tenant, const RunId& run) {
  Going going;
  RunFilter runs;
  runs.tenant = tenant;
  runs.run = run;
  BELAY_TRY(auto rows, view.runs(runs));
  CheckpointFilter newest;
  newest.tenant = tenant;
  newest.run = run;
  newest.limit = 1;
  BELAY_TRY(auto checkpoints, view.checkpoints(newest));
  if (rows.empty() || checkpoints.empty()) return going;
  going.row = rows.front();
  ValueFilter values;
  values.tenant = tenant;
  values.run = run;
  values.at_seq = checkpoints.front().state_seq;
  values.checkpoint_ns = "";
  BELAY_TRY(going.values, view.values(values));
  return going;
}

Task<Result<Going>> read_going(Store& store, TenantId tenant, RunId run) {
  std::function<Result<Going>(Snapshot&)> reader = [tenant, run](Snapshot& view) {
    return going_run(view, tenant, run);
  };
  return read<Going>(store, std::move(reader));
}

// A store with everything that it uses. A commit of a run returns when its values are in Redis or a
// timeout has passed, so that the following reads find them there.
class StandingStore final : public ForwardingStore {
 public:
  StandingStore(std::unique_ptr<Store> inner, std::unique_ptr<Client> client,
                std::unique_ptr<Store> cached, bool lies)
      : ForwardingStore(*cached),
        inner_(std::move(inner)),
        client_(std::move(client)),
        cached_(std::move(cached)),
        liar_(*client_),
        lies_(lies) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    bool is_put = commit.rows.run && !is_final(commit.rows.run->status) && client_->is_up();
    TenantId tenant = commit.tenant;
    RunId run = commit.rows.run ? commit.rows.run->run : RunId();
    auto before = cache_counts(*cached_).puts;
    auto outcome = co_await cached_->commit(std::move(commit));
    is_put = is_put && outcome.ok() && *outcome == CommitOutcome::applied;
    for (int i = 0; is_put && i < 20 && cache_counts(*cached_).puts == before; ++i) {
      co_await sleep_for(milliseconds(1));
    }
    // Long histories of a few runs would repeat the same cases at each of their commits.
    bool is_worth_it = ++commits_ <= 20 || commits_ % 10 == 0;
    if (is_put && lies_ && is_worth_it) liar_.lie();
    if (!run.is_null()) co_await compare(std::move(tenant), run);
    co_return outcome;
  }

  // Other processes can write between the two reads.
  Task<Done> compare(TenantId tenant, RunId run) {
    auto truth = co_await read_going(*inner_, tenant, run);
    auto shown = co_await read_going(*cached_, tenant, run);
    bool is_comparable = truth.ok() && shown.ok() && truth->row == shown->row;
    if (is_comparable) {
      EXPECT_EQ(truth->values, shown->values);
    }
    co_return Done{};
  }

 private:
  std::unique_ptr<Store> inner_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Store> cached_;
  Liar liar_;
  const bool lies_;
  std::atomic<std::uint64_t> commits_ = 0;
};

enum class Behaviour { answers, lies, is_away };

// The inner store is in memory, because disks are tested elsewhere. Opened again for the same
// folder it is empty, and uses the keys in Redis that the previous one used.
Result<std::unique_ptr<Store>> open_cached(const std::string& folder, Clock& clock, Random& random,
                                           Behaviour behaviour) {
  static const std::string nobody = url_of_nobody();
  bool is_away = behaviour == Behaviour::is_away;
  std::unique_ptr<Store> inner = open_memory_store(clock, random);
  ClientOptions options = tests::patient(is_away ? nobody : shared_redis().url());
  options.prefix = std::filesystem::path(folder).filename().string() + ":";
  auto client = std::make_unique<Client>(std::move(options), random);
  if (is_away) {
    client->wait_for_first_try(milliseconds(10'000));
  } else if (!client->wait_until_up(milliseconds(10'000))) {
    return error(ErrorCode::unavailable, client->trouble());
  }
  auto cached = cache_store(*inner, *client);
  std::unique_ptr<Store> store = std::make_unique<StandingStore>(
      std::move(inner), std::move(client), std::move(cached), behaviour == Behaviour::lies);
  return store;
}

conformance::StoreKind kind_of(std::string name, Behaviour behaviour) {
  return {std::move(name), [behaviour](const std::string& folder, Clock& clock, Random& random) {
            return open_cached(folder, clock, random, behaviour);
          }};
}

}  // namespace
}  // namespace belay::redis

namespace belay::conformance {

const std::vector<StoreKind>& bare_store_kinds() {
  using redis::Behaviour;
  static const std::vector<StoreKind> kinds{
      redis::kind_of("WithRedis", Behaviour::answers),
      redis::kind_of("WithALyingRedis", Behaviour::lies),
      redis::kind_of("WithARedisThatIsAway", Behaviour::is_away),
  };
  return kinds;
}

}  // namespace belay::conformance
