#include "store/commit_weight.h"

#include <algorithm>

namespace belay::store {
namespace {

std::size_t weight_of_rows(const CommitRows& rows) {
  std::size_t bytes = 500;
  if (rows.run && rows.run->seq == 1) bytes += rows.run->input.size() + rows.run->options.size();
  if (rows.thread) bytes += rows.thread->title.size() + rows.thread->metadata.size();
  if (rows.checkpoint) bytes += rows.checkpoint->next_tasks.size();
  for (const CheckpointRow& earlier : rows.earlier) bytes += 200 + earlier.next_tasks.size();
  for (const ValueRow& value : rows.values) bytes += 100 + value.envelope.size();
  for (const EventRow& event : rows.events) bytes += 100 + event.body.size();
  for (const ApprovalRow& approval : rows.opened) bytes += 300 + approval.payload.size();
  for (const RecordPut& put : rows.records) bytes += 300 + put.envelope.size();
  for (const TaskRow& task : rows.tasks) bytes += 100 + task.envelope.size();
  for (const EffectRow& effect : rows.effects) bytes += 150 + effect.envelope.size();
  for (const OutboxRow& message : rows.outbox) bytes += 150 + message.envelope.size();
  for (const BlobRow& blob : rows.blobs) bytes += 100 + blob.envelope.size();
  for (const CheckpointRow& inner : rows.inner_checkpoints) bytes += 200 + inner.next_tasks.size();
  for (const Rewrite& rewrite : rows.rewrites) bytes += 100 + rewrite.envelope.size();
  bytes += 100 * rows.delete_blobs.size();
  bytes += rows.prune.size() * 4'096;
  return bytes;
}

template <typename Row, typename Size>
std::size_t sum_of(const std::vector<Row>& rows, Size size) {
  std::size_t bytes = 0;
  for (const Row& row : rows) bytes += size(row);
  return bytes;
}

std::size_t largest_of_rows(const CommitRows& rows) {
  auto envelope = [](const auto& row) { return row.envelope.size(); };
  auto tasks = [](const CheckpointRow& row) { return row.next_tasks.size(); };
  std::size_t largest = 0;
  auto look = [&](std::size_t bytes) { largest = std::max(largest, bytes); };
  if (rows.run) {
    look(rows.run->input.size() + rows.run->options.size() + rows.run->start_seal.size());
    look(rows.run->error.size() + rows.run->reason.size() + rows.run->seal.size());
  }
  if (rows.thread) {
    look(rows.thread->title.size() + rows.thread->metadata.size() + rows.thread->seal.size());
  }
  if (rows.thread_edit) {
    const ThreadRow& thread = rows.thread_edit->row;
    look(thread.title.size() + thread.metadata.size() + thread.seal.size());
  }
  look(sum_of(rows.earlier, tasks) + (rows.checkpoint ? rows.checkpoint->next_tasks.size() : 0));
  look(sum_of(rows.inner_checkpoints, tasks));
  look(sum_of(rows.values, envelope));
  look(sum_of(rows.tasks, envelope));
  look(sum_of(rows.effects, envelope));
  look(sum_of(rows.blobs, envelope));
  look(sum_of(rows.records, envelope));
  look(sum_of(rows.records, [](const RecordPut& put) {
    std::size_t bytes = 0;
    for (const auto& [field, value] : put.indexed) bytes += field.size() + value.size();
    return bytes;
  }));
  look(sum_of(rows.events, [](const EventRow& row) { return row.body.size() + row.seal.size(); }));
  look(sum_of(rows.outbox, [](const OutboxRow& row) {
    return row.envelope.size() + row.error.size() + row.seal.size();
  }));
  look(sum_of(rows.opened, [](const ApprovalRow& row) {
    return row.question.size() + row.payload.size() + row.edited.size() + row.comment.size() +
           row.seal.size() + row.decision_seal.size();
  }));
  return largest;
}

}  // namespace

std::size_t weight_of(const Commit& commit) { return weight_of_rows(commit.rows); }

std::size_t largest_table_of(const Commit& commit) {
  std::size_t largest = largest_of_rows(commit.rows);
  return commit.if_expired ? std::max(largest, largest_of_rows(*commit.if_expired)) : largest;
}

}  // namespace belay::store
