#include "agents/research/checkpoints/checkpoint_rows.h"

#include <utility>

namespace belay::research {

// Replaces a checkpoint: a record without contents and indexes that has expired.
struct CheckpointTombstone {
  static constexpr std::string_view collection = AgentCheckpoint::collection;

  std::string id{};
  Instant expires{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return expires; }
};

namespace {

class NodeRows final : public CheckpointRows {
 public:
  explicit NodeRows(Context& context) : context_(context) {}

  Records& records() override { return context_.records(); }
  bool is_immediate() const override { return false; }
  bool is_replay() const override { return context_.is_replay(); }

  Task<Result<Done>> write(CheckpointWrites writes) override {
    if (!writes.no_longer_preserved.empty()) {
      co_return error(ErrorCode::invalid,
                      "A node cannot end the preservation of an analysis. Use a command.");
    }
    for (const AgentCheckpoint& each : writes.checkpoints) context_.save(each);
    for (const ArchivedCheckpoint& each : writes.archived) context_.save(each);
    for (const PreservedAnalysis& each : writes.preserved) context_.save(each);
    for (const HeadWrite& each : writes.heads) save(each);
    for (std::string& key : writes.removed_checkpoints) {
      CheckpointTombstone tombstone{std::move(key), context_.now()};
      context_.save(tombstone);
    }
    for (HeadWrite& each : writes.removed_heads) {
      each.head.expires = context_.now();
      save(each);
    }
    co_return Done{};
  }

 private:
  void save(const HeadWrite& write) {
    if (write.expected_version) {
      context_.save(write.head, *write.expected_version);
    } else {
      context_.save(write.head);
    }
  }

  Context& context_;
};

// The same writes as records.
class RecordList {
 public:
  explicit RecordList(UserId owner) : owner_(std::move(owner)) {}

  template <Record R>
  Result<Done> save(const R& record, std::optional<std::uint64_t> expected_version = {}) {
    BELAY_TRY(RecordWrite write, record_write(record, owner_));
    write.expected_version = expected_version;
    all_.push_back(std::move(write));
    return Done{};
  }
  void erase(std::string_view collection, std::string key,
             std::optional<std::uint64_t> expected_version = {}) {
    all_.push_back(record_erasure(collection, owner_, std::move(key)));
    all_.back().expected_version = expected_version;
  }
  std::vector<RecordWrite> take() { return std::move(all_); }

 private:
  UserId owner_;
  std::vector<RecordWrite> all_;
};

Result<std::vector<RecordWrite>> records_to_write(const CheckpointWrites& writes,
                                                  const UserId& owner) {
  RecordList list(owner);
  for (const AgentCheckpoint& each : writes.checkpoints) BELAY_CHECK(list.save(each));
  for (const HeadWrite& each : writes.heads) {
    BELAY_CHECK(list.save(each.head, each.expected_version));
  }
  for (const ArchivedCheckpoint& each : writes.archived) BELAY_CHECK(list.save(each));
  for (const PreservedAnalysis& each : writes.preserved) BELAY_CHECK(list.save(each));
  for (const std::string& key : writes.removed_checkpoints) {
    list.erase(AgentCheckpoint::collection, key);
  }
  for (const HeadWrite& each : writes.removed_heads) {
    list.erase(CheckpointHead::collection, each.head.key(), each.expected_version);
  }
  for (const std::string& analysis : writes.no_longer_preserved) {
    list.erase(PreservedAnalysis::collection, analysis);
  }
  // The deletion of a record that must not exist: only its condition has an effect.
  for (const std::string& analysis : writes.unless_preserved) {
    list.erase(PreservedAnalysis::collection, analysis, 0);
  }
  return list.take();
}

class ServiceRows final : public CheckpointRows {
 public:
  ServiceRows(Service& service, Principal who, UserId owner)
      : service_(service), who_(std::move(who)), owner_(std::move(owner)) {}

  Records& records() override { return *records_; }
  Task<Result<Done>> write(CheckpointWrites writes) override {
    BELAY_CO_TRY(std::vector<RecordWrite> records, records_to_write(writes, owner_));
    if (records.empty()) co_return Done{};
    co_return co_await service_.save_records(who_, std::move(records));
  }

 private:
  Service& service_;
  const Principal who_;
  const UserId owner_;
  const std::unique_ptr<Records> records_ = records_of(service_, who_, owner_);
};

class RuntimeRows final : public CheckpointRows {
 public:
  RuntimeRows(Runtime& runtime, TenantId tenant, UserId owner)
      : runtime_(runtime), tenant_(std::move(tenant)), owner_(std::move(owner)) {}

  Records& records() override { return *records_; }
  Task<Result<Done>> write(CheckpointWrites writes) override {
    BELAY_CO_TRY(std::vector<RecordWrite> records, records_to_write(writes, owner_));
    if (records.empty()) co_return Done{};
    co_return co_await runtime_.save(tenant_, std::move(records));
  }

 private:
  Runtime& runtime_;
  const TenantId tenant_;
  const UserId owner_;
  const std::unique_ptr<Records> records_ = runtime_.records(tenant_, owner_);
};

}  // namespace

std::unique_ptr<CheckpointRows> checkpoint_rows(Context& context) {
  return std::make_unique<NodeRows>(context);
}
std::unique_ptr<CheckpointRows> checkpoint_rows(Service& service, Principal who, UserId owner) {
  return std::make_unique<ServiceRows>(service, std::move(who), std::move(owner));
}
std::unique_ptr<CheckpointRows> checkpoint_rows(Runtime& runtime, TenantId tenant, UserId owner) {
  return std::make_unique<RuntimeRows>(runtime, std::move(tenant), std::move(owner));
}

Task<Result<std::vector<Versioned<CheckpointHead>>>> heads_of(Records& records,
                                                              std::string analysis_id) {
  RecordFilter filter;
  filter.collection = CheckpointHead::collection;
  filter.field = "analysis_id";
  filter.value = std::move(analysis_id);
  filter.limit = limits::list_rows_max;
  BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(filter)));
  std::vector<Versioned<CheckpointHead>> heads;
  for (const RecordRow& row : rows) {
    BELAY_CO_TRY(CheckpointHead head, record_from<CheckpointHead>(row));
    heads.push_back({std::move(head), row.version});
  }
  co_return std::move(heads);
}

Task<Result<std::optional<RecordRow>>> newest_row(Records& records, std::string analysis_id,
                                                  std::string agent_type) {
  RecordSpan span("newest");
  span.equal_to(analysis_id, agent_type).last_first().limit(1);
  RecordFilter filter = span.filter();
  filter.collection = AgentCheckpoint::collection;
  BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(filter)));
  std::optional<RecordRow> newest;
  if (!rows.empty()) newest = std::move(rows.front());
  co_return std::move(newest);
}

}  // namespace belay::research
