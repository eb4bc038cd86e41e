#include "service/find_approval.h"

#include <algorithm>

#include "belay/limits.h"
#include "service/find_run.h"

namespace belay {
namespace {

using Approvals = std::vector<ApprovalRow>;

Error unknown(const std::string& id, const std::string& call) {
  return error(ErrorCode::not_found, "There is no approval and no thread \"" + id + "\"; see " +
                                         call + " approvals list --all.");
}

Result<Approvals> with_id(Snapshot& view, const TenantId& tenant, const Uuid& id) {
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.interrupt = InterruptId(id);
  return view.approvals(filter);
}

Result<ApprovalRow> of_run(Snapshot& view, const RunRow& run, const std::string& call) {
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  BELAY_TRY(Approvals all, view.approvals(filter));
  Approvals open;
  std::copy_if(all.begin(), all.end(), std::back_inserter(open),
               [](const ApprovalRow& row) { return row.status == ApprovalStatus::open; });
  std::string thread = "Thread \"" + run.thread.text + "\"";
  if (open.size() > 1) {
    return error(ErrorCode::invalid,
                 thread + " waits with several questions; name one of their ids, see " + call +
                     " approvals list.");
  }
  if (!open.empty()) return std::move(open.front());
  if (!all.empty()) return std::move(all.front());
  if (is_final(run.status)) {
    return error(ErrorCode::conflict, thread + " has " + std::string(name_of(run.status)) +
                                          " without asking anyone; there is nothing to decide.");
  }
  return error(ErrorCode::conflict, thread + " is " + std::string(name_of(run.status)) +
                                        " and asks nothing now; see " + call + " state " +
                                        run.thread.text + ".");
}

bool may_be_prefix(std::string_view id) {
  return !id.empty() && id.size() <= 36 &&
         id.find_first_not_of("0123456789abcdefABCDEF-") == id.npos;
}

Result<ApprovalRow> with_prefix(Snapshot& view, const TenantId& tenant, const std::string& id,
                                const std::string& call) {
  if (!may_be_prefix(id)) return unknown(id, call);
  if (id.size() < kIdPrefixMin) {
    return error(ErrorCode::invalid, "\"" + id +
                                         "\" is too short for an approval's id; give at "
                                         "least " +
                                         std::to_string(kIdPrefixMin) + " characters.");
  }
  std::string prefix = id;
  for (char& c : prefix) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.limit = limits::page_rows_max;
  BELAY_TRY(Approvals all, view.approvals(filter));
  std::optional<ApprovalRow> found;
  for (ApprovalRow& row : all) {
    if (!row.interrupt.text().starts_with(prefix)) continue;
    if (found) {
      return error(ErrorCode::invalid, "Several approvals begin with \"" + id +
                                           "\"; give more of the id, see " + call +
                                           " approvals list --all.");
    }
    found = std::move(row);
  }
  if (found) return *std::move(found);
  return unknown(id, call);
}

}  // namespace

Result<ApprovalRow> find_approval(Snapshot& view, const TenantId& tenant, const std::string& id,
                                  const std::string& call) {
  if (auto uuid = uuid_from(id)) {
    BELAY_TRY(Approvals found, with_id(view, tenant, *uuid));
    if (!found.empty()) return std::move(found.front());
  }
  auto run = run_of_thread(view, tenant, ThreadId(id), call);
  if (run.ok()) return of_run(view, *run, call);
  if (run.error().code != ErrorCode::not_found) return std::move(run).error();
  return with_prefix(view, tenant, id, call);
}

}  // namespace belay
