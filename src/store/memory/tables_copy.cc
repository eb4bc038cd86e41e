#include "store/memory/tables.h"

namespace belay::store {

TenantTables::TenantTables(const TenantTables& other)
    : threads(other.threads),
      runs(other.runs),
      approvals(other.approvals),
      records(other.records),
      orders(other.orders),
      blobs(other.blobs),
      queues(other.queues),
      blob_puts(other.blob_puts),
      last_number(other.last_number) {
  for (auto row = threads.begin(); row != threads.end(); ++row) {
    thread_by_id.emplace(row->thread.text, row);
  }
  for (const auto& [name, table] : other.thread_tables) {
    thread_tables[name].channels = table.channels;
  }
  for (auto row = approvals.begin(); row != approvals.end(); ++row) {
    approval_by_id.emplace(row->interrupt, row);
  }
  for (auto table = runs.begin(); table != runs.end(); ++table) {
    run_by_id.emplace(table->row.run, table);
    thread_tables[table->row.thread.text].add(*table);
    for (ApprovalRow*& row : table->approvals) row = &*approval_by_id.at(row->interrupt);
  }
}

}  // namespace belay::store
