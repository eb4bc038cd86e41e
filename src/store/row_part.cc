#include "store/row_part.h"

#include <charconv>
#include <system_error>

namespace belay::store {
namespace {

constexpr std::string_view index_subject = "index";
constexpr std::string_view thread_subject = "thread ";

// Reverses add(): returns the next text.
std::optional<std::string> take(std::string_view& subject) {
  std::size_t colon = subject.find(':');
  if (colon == subject.npos || subject.front() != ' ') return std::nullopt;
  std::size_t size = 0;
  auto [end, failed] = std::from_chars(subject.data() + 1, subject.data() + colon, size);
  subject.remove_prefix(colon + 1);
  if (failed != std::errc() || size > subject.size()) return std::nullopt;
  std::string text(subject.substr(0, size));
  subject.remove_prefix(size);
  return text;
}

}  // namespace

// A thread that was never edited is bound as it was before threads could be edited.
RowPart part_of(ThreadRow& row) {
  std::string subject = "thread";
  add(subject, row.thread.text);
  std::string bound;
  add(bound, row.user.text);
  add(bound, row.graph);
  add(bound, row.created_at);
  if (row.expires_at != Instant{} || row.updated_at != Instant{}) {
    add(bound, row.expires_at);
    add(bound, row.updated_at);
  }
  return {{std::move(subject), std::move(bound)}, &row.seal, {&row.title, &row.metadata}};
}

bool may_lack_texts(std::string_view subject) { return subject.starts_with(thread_subject); }

RowPart part_of(RunRow& row) {
  std::string bound;
  add(bound, name_of(row.status));
  add(bound, row.outcome);
  add(bound, row.error_code);
  add(bound, row.seq);
  add(bound, row.epoch);
  add(bound, row.session);
  add(bound, row.checkpoint);
  add(bound, row.node);
  add(bound, row.retry_count);
  add(bound, row.worked_ms);
  add(bound, row.updated_at);
  add(bound, row.due_at);
  add(bound, row.lost_claims);
  return {{"run " + row.run.text(), std::move(bound)}, &row.seal, {&row.error, &row.reason}};
}

RowPart start_part_of(RunRow& row) {
  std::string bound;
  add(bound, row.thread.text);
  add(bound, row.user.text);
  add(bound, row.graph);
  add(bound, to_hex(row.graph_hash));
  add(bound, row.created_at);
  add(bound, row.forked_from);
  add(bound, row.forked_at);
  add(bound, row.queue);
  add(bound, row.priority);
  add(bound, row.concurrency_key);
  // A thread's first run is bound as it was before threads had several.
  if (row.ordinal != 0) add(bound, row.ordinal);
  return {{"start " + row.run.text(), std::move(bound)}, &row.start_seal, {&row.options}};
}

RowPart part_of(EventRow& row) {
  std::string subject = "event " + row.run.text();
  add(subject, row.seq);
  add(subject, row.index);
  std::string bound;
  add(bound, row.type);
  add(bound, row.created_at);
  return {{std::move(subject), std::move(bound)}, &row.seal, {&row.body}};
}

RowPart question_part_of(ApprovalRow& row) {
  std::string bound = row.run.text() + ' ' + row.task.text();
  add(bound, row.node);
  add(bound, row.roles);
  add(bound, row.seq);
  add(bound, row.created_at);
  add(bound, row.expires_at);
  return {{"question " + row.interrupt.text(), std::move(bound)}, &row.seal, {&row.question}};
}

// The edited payload has its own seal; the decision part binds whether there is one.
RowPart decision_part_of(ApprovalRow& row) {
  std::string bound;
  // The end of a run closes its approvals without a new seal of their votes.
  bool has_votes = row.status == ApprovalStatus::closed && !row.edited.empty();
  add(bound, name_of(has_votes ? ApprovalStatus::open : row.status));
  add(bound, row.decided_at);
  add(bound, std::uint64_t{!row.edited.empty()});
  return {{"decision " + row.interrupt.text(), std::move(bound)},
          &row.decision_seal,
          {&row.decided_by, &row.comment, &row.on_behalf_of}};
}

RowPart part_of(OutboxRow& row) {
  std::string subject = "message " + row.run.text();
  add(subject, row.seq);
  add(subject, row.index);
  std::string bound;
  add(bound, row.topic);
  add(bound, name_of(row.status));
  add(bound, row.attempts);
  add(bound, row.due_at);
  add(bound, row.created_at);
  return {{std::move(subject), std::move(bound)}, &row.seal, {&row.error}};
}

RowPart index_part_of(std::string_view collection, const UserId& user, std::string_view key,
                      std::vector<std::string>& names_and_values, std::string& seal) {
  std::string subject(index_subject);
  add(subject, collection);
  add(subject, user.text);
  add(subject, key);
  RowPart part{{std::move(subject)}, &seal};
  for (std::string& each : names_and_values) part.texts.push_back(&each);
  return part;
}

std::optional<RecordName> record_of_index(std::string_view subject) {
  if (!subject.starts_with(index_subject)) return std::nullopt;
  subject.remove_prefix(index_subject.size());
  auto collection = take(subject);
  auto user = collection ? take(subject) : std::nullopt;
  auto key = user ? take(subject) : std::nullopt;
  if (!key || !subject.empty()) return std::nullopt;
  return RecordName{*std::move(collection), UserId(*std::move(user)), *std::move(key)};
}

StoredEnvelope stored_part(std::uint64_t place, const RowPart& part) {
  StoredEnvelope stored;
  stored.position = place;
  stored.subject = part.subject.row;
  stored.bound = part.subject.bound;
  stored.envelope = *part.seal;
  stored.kind = StoredEnvelope::Kind::part;
  for (const std::string* text : part.texts) stored.texts.push_back(*text);
  return stored;
}

Digest digest_of(const StoredEnvelope& stored) {
  if (stored.kind != StoredEnvelope::Kind::part) return sha256(stored.envelope);
  std::string all;
  add(all, stored.envelope);
  add(all, stored.bound);
  for (const std::string& text : stored.texts) add(all, text);
  return sha256(all);
}

}  // namespace belay::store
