#include "store/memory/envelopes.h"

#include <algorithm>

#include "store/envelope_subject.h"
#include "store/envelope_type.h"
#include "store/row_part.h"
#include "store/stored_digest.h"

namespace belay::store {
namespace {

using Kind = StoredEnvelope::Kind;

// `digest` is a mutable reference also for visitors that change nothing.
void visit_digest(Subject subject, Digest& digest, const VisitEnvelope& visit) {
  if (digest == Digest{}) return;
  std::string bytes = bytes_of(digest);
  visit({std::move(subject), Kind::digest, bytes});
  if (bytes != bytes_of(digest)) digest = digest_of(bytes);
}

void visit_checkpoint(CheckpointRow& row, const VisitEnvelope& visit) {
  visit({subject_of_tasks(row), Kind::tasks, row.next_tasks});
  const std::string kept = kept_hash(row);
  std::string hash = kept;
  visit({subject_of_chain(row), Kind::digest, hash});
  if (hash != kept) keep_hash(std::move(hash), row);
}

void visit_part(RowPart part, const VisitEnvelope& visit) {
  visit({std::move(part.subject), Kind::part, *part.seal, std::move(part.texts)});
}

// The names and values of a record's indexed fields alternate.
void visit_index(RecordEntry& entry, const VisitEnvelope& visit) {
  if (entry.indexed.empty()) return;
  std::vector<std::string> texts;
  for (const auto& [name, value] : entry.indexed) texts.insert(texts.end(), {name, value});
  StoredRecord& row = entry.row;
  visit_part(index_part_of(row.collection, row.user, row.key, texts, row.seal), visit);
  for (std::size_t i = 0; i < entry.indexed.size(); ++i) entry.indexed[i].second = texts[2 * i + 1];
}

void visit_more(TenantTables& tenant, const VisitEnvelope& visit) {
  for (ThreadRow& row : tenant.threads) visit_part(part_of(row), visit);
  for (RunTable& run : tenant.runs) {
    for (CheckpointRow& row : run.checkpoints) visit_checkpoint(row, visit);
    for (auto& [key, row] : run.inner_checkpoints) visit_checkpoint(row, visit);
    visit_part(part_of(run.row), visit);
    visit_part(start_part_of(run.row), visit);
    for (EventRow& row : run.events) visit_part(part_of(row), visit);
    for (auto& [key, message] : run.outbox) visit_part(part_of(message.row), visit);
    for (auto& [key, effect] : run.effects) {
      EffectRow& row = effect.row;
      if (row.envelope.empty()) visit({subject_of(row), Kind::envelope, row.envelope});
    }
  }
  for (ApprovalRow& row : tenant.approvals) {
    visit_digest(subject_of_payload_hash(row.interrupt), row.payload_hash, visit);
    visit_digest(subject_of_edited_hash(row.interrupt), row.edited_hash, visit);
    visit_part(question_part_of(row), visit);
    bool has_decision = is_decided(row.status) || !row.edited.empty();
    if (has_decision) visit_part(decision_part_of(row), visit);
  }
  for (auto& [key, record] : tenant.records) visit_index(record, visit);
}

StoredEnvelope stored_of(const Visited& visited) {
  StoredEnvelope stored{place_of_subject(visited.subject.row), visited.subject.row,
                        visited.envelope, visited.kind, visited.subject.bound};
  for (const std::string* text : visited.texts) stored.texts.push_back(*text);
  return stored;
}

}  // namespace

std::uint64_t place_of_subject(std::string_view subject) {
  Digest digest = sha256(subject);
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < sizeof place; ++i) place = place << 8 | digest[i];
  // Positive, so that 0 is before all positions, and within the range of a signed number.
  return std::max<std::uint64_t>(place >> 1, 1);
}

void for_each_envelope(TenantTables& tenant, bool every_kind, const VisitEnvelope& visit) {
  auto give = [&](Subject subject, std::string& envelope) {
    if (!envelope.empty()) visit({std::move(subject), Kind::envelope, envelope});
  };
  for (RunTable& run : tenant.runs) {
    give(subject_of_input(run.row.run), run.row.input);
    for (auto& [name, rows] : run.channels) {
      for (ValueRow& value : rows) give(subject_of(value), value.envelope);
    }
    for (auto& [key, task] : run.tasks) give(subject_of(task), task.envelope);
    for (auto& [key, effect] : run.effects) give(subject_of(effect.row), effect.row.envelope);
    for (auto& [key, message] : run.outbox) give(subject_of(message.row), message.row.envelope);
  }
  for (auto& [id, thread] : tenant.thread_tables) {
    for (auto& [name, rows] : thread.channels) {
      for (ValueRow& value : rows) give(subject_of(value), value.envelope);
    }
  }
  for (ApprovalRow& approval : tenant.approvals) {
    give(subject_of_payload(approval.interrupt), approval.payload);
    give(subject_of_edited(approval.interrupt), approval.edited);
  }
  for (auto& [key, record] : tenant.records) {
    give(subject_of_record(record.row.collection, record.row.user, record.row.key),
         record.row.envelope);
  }
  for (auto& [id, blob] : tenant.blobs) give(subject_of_blob(id), blob.envelope);
  if (every_kind) visit_more(tenant, visit);
}

Result<std::vector<StoredEnvelope>> list_envelopes(const TenantTables& tenant,
                                                   const EnvelopeFilter& filter) {
  std::string front = front_of_type(filter.other_than);
  std::vector<StoredEnvelope> found;
  // The cast is safe: this visitor changes nothing.
  for_each_envelope(const_cast<TenantTables&>(tenant), filter.every_kind, [&](Visited visited) {
    if (!front.empty() && visited.envelope.starts_with(front)) return;
    if (place_of_subject(visited.subject.row) <= filter.after) return;
    found.push_back(stored_of(visited));
  });
  std::sort(found.begin(), found.end(), [](const StoredEnvelope& a, const StoredEnvelope& b) {
    return a.position < b.position;
  });
  if (found.size() > filter.limit) found.resize(filter.limit);
  return found;
}

void rewrite_envelopes(TenantTables& tenant, std::vector<Rewrite>& rewrites) {
  if (rewrites.empty()) return;
  std::unordered_map<std::uint64_t, Rewrite*> by_place;
  for (Rewrite& rewrite : rewrites) by_place.emplace(rewrite.position, &rewrite);
  for_each_envelope(tenant, true, [&](Visited visited) {
    StoredEnvelope stored = stored_of(visited);
    auto found = by_place.find(stored.position);
    if (found == by_place.end() || digest_of(stored) != found->second->before) return;
    visited.envelope = found->second->envelope;
    bool fits = found->second->texts.size() == visited.texts.size();
    for (std::size_t i = 0; fits && i < visited.texts.size(); ++i) {
      *visited.texts[i] = found->second->texts[i];
    }
  });
}

}  // namespace belay::store
