#include "store/encrypted/encrypted_snapshot.h"

#include <algorithm>
#include <map>

#include "store/envelope_subject.h"

namespace belay::encrypted {
namespace {

// Opens the envelopes of one page of rows.
class Opening {
 public:
  Opening(Snapshot& inner, EnvelopeSealer& sealer, const TenantId& tenant)
      : inner_(inner), sealer_(sealer), tenant_(tenant) {}

  // Opens `envelope`, or records its reference for finish(). Calls `subject` only if necessary.
  template <typename Subject>
  Result<Done> open(std::string& envelope, const Subject& subject) {
    if (sealer_.is_open(envelope)) return Done{};
    store::Subject name = subject();
    BELAY_TRY(std::optional<Digest> id, sealer_.open(tenant_, name, envelope));
    if (id) references_.push_back({*id, &envelope, std::move(name)});
    return Done{};
  }
  // The same for an envelope that every row must have.
  template <typename Subject>
  Result<Done> open_kept(std::string& envelope, const Subject& subject) {
    if (envelope.empty() && sealer_.needs_seals()) return corrupt(subject(), "no longer exists");
    return open(envelope, subject);
  }
  Result<Done> open(const store::RowPart& part) {
    if (part.seal->empty() && !sealer_.needs_seals()) return Done{};
    return sealer_.open(tenant_, part);
  }

  bool is_strict() const { return sealer_.needs_seals(); }

  // Replaces the references by their blobs.
  Result<Done> finish() {
    if (references_.empty()) return Done{};
    std::vector<Digest> ids;
    for (const Reference& each : references_) ids.push_back(each.id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    BELAY_TRY(std::vector<BlobRow> blobs, inner_.blobs(tenant_, ids));
    std::map<Digest, const BlobRow*> by_id;
    for (const BlobRow& blob : blobs) by_id.emplace(blob.id, &blob);
    for (Reference& each : references_) {
      auto found = by_id.find(each.id);
      if (found == by_id.end()) {
        return corrupt(each.subject,
                       "names the blob " + to_hex(each.id) + ", which does not exist");
      }
      BELAY_TRY(*each.envelope, sealer_.open_blob(tenant_, *each.envelope, *found->second));
    }
    return Done{};
  }

 private:
  struct Reference {
    Digest id;
    std::string* envelope;
    store::Subject subject;
  };

  Snapshot& inner_;
  EnvelopeSealer& sealer_;
  const TenantId& tenant_;
  std::vector<Reference> references_;
};

// Replaces a damaged value in a row. Not a valid envelope, so that its readers get `corrupt`.
constexpr std::string_view damaged = "?";

// Opens a page of rows, each by `open`. In a page of several runs' rows, which is not
// `strict`, a damaged row does not hide the others: `damage` marks it, and a reader of that
// row gets the error. If no key fits any of them, by their `seal`, the page fails with that
// error instead: the keys are wrong.
template <typename Row, typename Read, typename Open, typename Damage>
Result<std::vector<Row>> open_page(Snapshot& inner, EnvelopeSealer& sealer, const TenantId& tenant,
                                   bool strict, std::string Row::* seal, Read read, Open open,
                                   Damage damage) {
  BELAY_TRY(std::vector<Row> rows, read());
  auto open_from = [&](std::size_t begin, std::size_t end) -> Result<Done> {
    Opening opening(inner, sealer, tenant);
    for (std::size_t i = begin; i < end; ++i) BELAY_CHECK(open(rows[i], opening));
    return opening.finish();
  };
  auto opened = open_from(0, rows.size());
  if (opened.ok() || strict) {
    BELAY_CHECK(opened);
    return rows;
  }
  BELAY_TRY(rows, read());
  std::size_t without_key = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string envelope = rows[i].*seal;
    auto alone = open_from(i, i + 1);
    if (alone.ok()) continue;
    const Error& why = alone.error();
    if (why.code != ErrorCode::corrupt && why.code != ErrorCode::invalid) return why;
    if (sealer.is_about_keys(envelope, why)) ++without_key;
    damage(rows[i]);
  }
  if (without_key == rows.size()) return opened.error();
  return rows;
}

// True if the row contains any value that only a decision sets.
bool says_of_decision(const ApprovalRow& row) {
  return !row.decision_seal.empty() || !row.decided_by.empty() || !row.comment.empty() ||
         !row.edited.empty() || row.edited_hash != Digest{} || row.decided_at != Instant{};
}

// If there is a key, the digest of a payload is not stored; it is computed from the payload. If an
// older Belay has stored a digest, that is returned unchanged.
void restore_digest(const std::string& envelope, Digest& digest) {
  if (digest != Digest{}) return;
  auto text = json_in_envelope(envelope);
  if (text.ok()) digest = sha256(*text);
}

// The store's index might have been changed by any process that can write to it: the record's seal
// contains its real indexed fields.
Result<Done> check_found(EnvelopeSealer& sealer, const RecordQuery& query,
                         const StoredRecord& row) {
  std::vector<std::string> none;
  std::string seal = row.seal;
  store::RowPart part = store::index_part_of(row.collection, row.user, row.key, none, seal);
  if (row.seal.empty()) return sealer.needs_seals() ? sealer.open(query.tenant, part) : Done{};
  BELAY_TRY(std::vector<std::string> indexed,
            sealer.texts_in(query.tenant, part.subject, row.seal));
  for (std::size_t i = 0; i + 1 < indexed.size(); i += 2) {
    const std::string& value = query.range ? row.sort_value : query.value;
    if (indexed[i] == query.field && indexed[i + 1] == value) return Done{};
  }
  return corrupt(part.subject, "does not match the record");
}

}  // namespace

Result<std::vector<ThreadRow>> EncryptedSnapshot::threads(const ThreadFilter& filter) {
  return open_page<ThreadRow>(
      inner_, sealer_, filter.tenant, filter.thread.has_value(), &ThreadRow::seal,
      [&] { return inner_.threads(filter); },
      [](ThreadRow& row, Opening& opening) { return opening.open(store::part_of(row)); },
      [](ThreadRow& row) {
        row.user = UserId();
        row.title.clear();
        row.metadata.clear();
        row.seal.clear();
      });
}

Result<std::vector<RunRow>> EncryptedSnapshot::runs(const RunFilter& filter) {
  return open_page<RunRow>(
      inner_, sealer_, filter.tenant, filter.limit <= 1, &RunRow::seal,
      [&] { return inner_.runs(filter); },
      [&](RunRow& row, Opening& opening) -> Result<Done> {
        BELAY_CHECK(opening.open(store::part_of(row)));
        BELAY_CHECK(opening.open(store::start_part_of(row)));
        if (filter.without_input) {
          row.options.clear();
          return Done{};
        }
        return opening.open_kept(row.input, [&] { return store::subject_of_input(row.run); });
      },
      [](RunRow& row) {
        row.input = damaged;
        row.user = UserId();
        row.seal.clear();
        row.start_seal.clear();
      });
}

void open_offer(EnvelopeSealer& sealer, RunRow& row) {
  // If a part fails to open, it loses its seal, and its texts are empty.
  (void)sealer.open(row.tenant, store::part_of(row));
  (void)sealer.open(row.tenant, store::start_part_of(row));
  row.options.clear();
}

Result<std::vector<CheckpointRow>> EncryptedSnapshot::checkpoints(const CheckpointFilter& filter) {
  BELAY_TRY(std::vector<CheckpointRow> rows, inner_.checkpoints(filter));
  for (CheckpointRow& row : rows) BELAY_CHECK(sealer_.open(filter.tenant, row));
  return rows;
}

Result<std::vector<ValueRow>> EncryptedSnapshot::values(const ValueFilter& filter) {
  BELAY_TRY(std::vector<ValueRow> rows, inner_.values(filter));
  Opening opening(inner_, sealer_, filter.tenant);
  for (ValueRow& row : rows) {
    BELAY_CHECK(opening.open_kept(row.envelope, [&] { return store::subject_of(row); }));
  }
  BELAY_CHECK(opening.finish());
  return rows;
}

Result<std::vector<EventRow>> EncryptedSnapshot::events(const EventFilter& filter) {
  BELAY_TRY(std::vector<EventRow> rows, inner_.events(filter));
  Opening opening(inner_, sealer_, filter.tenant);
  for (EventRow& row : rows) BELAY_CHECK(opening.open(store::part_of(row)));
  return rows;
}

Result<std::vector<ApprovalRow>> EncryptedSnapshot::approvals(const ApprovalFilter& filter) {
  BELAY_TRY(auto rows, open_approvals(filter));
  for (ApprovalRow& row : rows) {
    restore_digest(row.payload, row.payload_hash);
    restore_digest(row.edited, row.edited_hash);
  }
  return rows;
}

Result<std::vector<ApprovalRow>> EncryptedSnapshot::open_approvals(const ApprovalFilter& filter) {
  bool strict = (filter.run || filter.interrupt) && !filter.with_damaged;
  return open_page<ApprovalRow>(
      inner_, sealer_, filter.tenant, strict, &ApprovalRow::seal,
      [&] { return inner_.approvals(filter); },
      [](ApprovalRow& row, Opening& opening) -> Result<Done> {
        BELAY_CHECK(opening.open(store::question_part_of(row)));
        // Undecided with a reply: votes of an approval that needs several decisions.
        if (store::is_decided(row.status) || !row.edited.empty()) {
          BELAY_CHECK(opening.open(store::decision_part_of(row)));
        } else if (opening.is_strict() && says_of_decision(row)) {
          return corrupt("approval " + row.interrupt.text(),
                         "is decided, but its seal is that of an undecided approval");
        }
        BELAY_CHECK(opening.open_kept(row.payload,
                                      [&] { return store::subject_of_payload(row.interrupt); }));
        return opening.open(row.edited, [&] { return store::subject_of_edited(row.interrupt); });
      },
      [](ApprovalRow& row) {
        row.payload = row.edited = damaged;
        row.seal.clear();
        row.decision_seal.clear();
      });
}

Result<std::vector<StoredRecord>> EncryptedSnapshot::records(const RecordQuery& query) {
  BELAY_TRY(std::vector<StoredRecord> rows, query.range           ? found_in_range(query)
                                            : query.field.empty() ? inner_.records(query)
                                                                  : found_by(query));
  Opening opening(inner_, sealer_, query.tenant);
  for (StoredRecord& row : rows) {
    row.seal.clear();
    BELAY_CHECK(opening.open_kept(
        row.envelope, [&] { return store::subject_of_record(row.collection, row.user, row.key); }));
  }
  BELAY_CHECK(opening.finish());
  return rows;
}

// The values of an ordered index are the same with every key.
Result<std::vector<StoredRecord>> EncryptedSnapshot::found_in_range(const RecordQuery& query) {
  BELAY_TRY(std::vector<StoredRecord> rows, inner_.records(query));
  for (const StoredRecord& row : rows) BELAY_CHECK(check_found(sealer_, query, row));
  return rows;
}

// Finds records by an indexed field: its stored value differs under each key.
Result<std::vector<StoredRecord>> EncryptedSnapshot::found_by(const RecordQuery& query) {
  store::RecordField field{query.collection, query.user, query.field, query.value};
  std::map<std::string, StoredRecord> found;  // by key
  for (std::string& value : sealer_.index_values(query.tenant, field)) {
    RecordQuery stored = query;
    stored.value = std::move(value);
    BELAY_TRY(std::vector<StoredRecord> rows, inner_.records(stored));
    for (StoredRecord& row : rows) {
      BELAY_CHECK(check_found(sealer_, query, row));
      std::string key = row.key;
      found.emplace(std::move(key), std::move(row));
    }
  }
  if (found.empty()) {
    // Without the right key no record is found, which must not look like an empty result.
    RecordQuery any = query;
    any.field.clear();
    any.limit = 1;
    BELAY_CHECK(records(any));
  }
  std::vector<StoredRecord> rows;
  for (auto& [key, row] : found) {
    if (rows.size() == query.limit) break;
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<TaskRow>> EncryptedSnapshot::tasks(const TaskFilter& filter) {
  BELAY_TRY(std::vector<TaskRow> rows, inner_.tasks(filter));
  Opening opening(inner_, sealer_, filter.tenant);
  for (TaskRow& row : rows) {
    BELAY_CHECK(opening.open(row.envelope, [&] { return store::subject_of(row); }));
  }
  BELAY_CHECK(opening.finish());
  return rows;
}

Result<std::vector<EffectRow>> EncryptedSnapshot::effects(const EffectFilter& filter) {
  return open_page<EffectRow>(
      inner_, sealer_, filter.tenant, filter.run.has_value(), &EffectRow::envelope,
      [&] { return inner_.effects(filter); },
      [](EffectRow& row, Opening& opening) {
        return opening.open(row.envelope, [&] { return store::subject_of(row); });
      },
      [](EffectRow& row) { row.envelope = damaged; });
}

Result<std::vector<OutboxRow>> EncryptedSnapshot::outbox(const OutboxFilter& filter) {
  return open_page<OutboxRow>(
      inner_, sealer_, filter.tenant, filter.run.has_value(), &OutboxRow::seal,
      [&] { return inner_.outbox(filter); },
      [&](OutboxRow& row, Opening& opening) -> Result<Done> {
        BELAY_CHECK(opening.open(store::part_of(row)));
        if (filter.without_body) return Done{};
        return opening.open_kept(row.envelope, [&] { return store::subject_of(row); });
      },
      [](OutboxRow& row) {
        row.envelope = damaged;
        row.seal.clear();
      });
}

Result<std::vector<BlobRow>> EncryptedSnapshot::blobs(const TenantId& tenant,
                                                      const std::vector<Digest>& ids) {
  BELAY_TRY(std::vector<BlobRow> rows, inner_.blobs(tenant, ids));
  Opening opening(inner_, sealer_, tenant);
  for (BlobRow& row : rows) {
    BELAY_CHECK(opening.open(row.envelope, [&] { return store::subject_of_blob(row.id); }));
  }
  BELAY_CHECK(opening.finish());
  return rows;
}

Result<std::vector<BlobUse>> EncryptedSnapshot::blob_uses(const TenantId& tenant,
                                                          const Digest& after) {
  return inner_.blob_uses(tenant, after);
}

Result<std::vector<TenantId>> EncryptedSnapshot::tenants() { return inner_.tenants(); }

Result<std::vector<QueueRow>> EncryptedSnapshot::queues(const TenantId& tenant) {
  return inner_.queues(tenant);
}

Result<std::vector<QueueCount>> EncryptedSnapshot::queue_counts(const TenantId& tenant, Instant now,
                                                                const std::optional<UserId>& user) {
  return inner_.queue_counts(tenant, now, user);
}

Result<std::vector<ConcurrencyCount>> EncryptedSnapshot::running_counts(const TenantId& tenant,
                                                                        ConcurrencyScope of) {
  return inner_.running_counts(tenant, of);
}

Result<std::vector<SessionRow>> EncryptedSnapshot::sessions(const SessionFilter& filter) {
  return inner_.sessions(filter);
}

Result<std::vector<StoredEnvelope>> EncryptedSnapshot::envelopes(const EnvelopeFilter& filter) {
  return inner_.envelopes(filter);
}

}  // namespace belay::encrypted
