#include "store/memory/envelopes.h"

#include <algorithm>

#include "store/envelope_subject.h"
#include "store/envelope_type.h"

namespace belay::store {

std::uint64_t place_of_subject(std::string_view subject) {
  Digest digest = sha256(subject);
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < sizeof place; ++i) place = place << 8 | digest[i];
  // 0 is before all places, and a signed number holds the rest.
  return std::max<std::uint64_t>(place >> 1, 1);
}

void for_each_envelope(TenantTables& tenant,
                       const std::function<void(std::string&&, std::string&)>& visit) {
  auto give = [&](std::string&& subject, std::string& envelope) {
    if (!envelope.empty()) visit(std::move(subject), envelope);
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
  for (ApprovalRow& approval : tenant.approvals) {
    give(subject_of_payload(approval.interrupt), approval.payload);
    give(subject_of_edited(approval.interrupt), approval.edited);
  }
  for (auto& [key, record] : tenant.records) {
    give(subject_of_record(record.row.collection, record.row.user, record.row.key),
         record.row.envelope);
  }
  for (auto& [id, blob] : tenant.blobs) give(subject_of_blob(id), blob.envelope);
}

Result<std::vector<StoredEnvelope>> list_envelopes(const TenantTables& tenant,
                                                   const EnvelopeFilter& filter) {
  std::string front = front_of_type(filter.other_than);
  std::vector<StoredEnvelope> found;
  // Visiting changes nothing here.
  for_each_envelope(const_cast<TenantTables&>(tenant),
                    [&](std::string&& subject, std::string& envelope) {
                      if (!front.empty() && envelope.starts_with(front)) return;
                      std::uint64_t place = place_of_subject(subject);
                      if (place <= filter.after) return;
                      found.push_back({place, std::move(subject), envelope});
                    });
  std::sort(found.begin(), found.end(),
            [](const StoredEnvelope& a, const StoredEnvelope& b) { return a.place < b.place; });
  if (found.size() > filter.limit) found.resize(filter.limit);
  return found;
}

void rewrite_envelopes(TenantTables& tenant, std::vector<Rewrite>& rewrites) {
  if (rewrites.empty()) return;
  std::unordered_map<std::uint64_t, Rewrite*> by_place;
  for (Rewrite& rewrite : rewrites) by_place.emplace(rewrite.place, &rewrite);
  for_each_envelope(tenant, [&](std::string&& subject, std::string& envelope) {
    auto found = by_place.find(place_of_subject(subject));
    if (found == by_place.end() || sha256(envelope) != found->second->before) return;
    envelope = found->second->envelope;
  });
}

}  // namespace belay::store
