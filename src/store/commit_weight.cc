#include "store/commit_weight.h"

namespace belay::store {
namespace {

std::size_t weight_of_rows(const CommitRows& rows) {
  std::size_t bytes = 500;
  if (rows.run && rows.run->seq == 1) bytes += rows.run->input.size() + rows.run->options.size();
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
  bytes += 100 * rows.forget_blobs.size();
  bytes += rows.prune.size() * 4'096;
  return bytes;
}

}  // namespace

std::size_t weight_of(const Commit& commit) { return weight_of_rows(commit.rows); }

}  // namespace belay::store
