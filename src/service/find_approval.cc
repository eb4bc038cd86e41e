#include "service/find_approval.h"

#include <algorithm>

#include "belay/limits.h"
#include "service/find_run.h"

namespace belay {
namespace {

using Approvals = std::vector<ApprovalRow>;

constexpr std::string_view kUuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

Error unknown(const std::string& id, const std::string& call) {
  return error(ErrorCode::not_found, "No approval or thread matches \"" + id +
                                         "\". List approvals with `" + call +
                                         " approvals list --all`.");
}

std::string in_short(const ApprovalRow& row) {
  return row.interrupt.text() + " of thread \"" + row.thread.text + "\"";
}

bool takes_in(const std::optional<UserId>& users, const UserId& user) {
  return !users || *users == user;
}

// Returns the thread's latest run; nullopt if the thread does not exist or is not visible here.
Result<std::optional<RunRow>> run_named(Snapshot& view, const TenantId& tenant,
                                        const ThreadId& thread, const Whose& whose) {
  auto run = run_of_thread(view, tenant, thread, "");
  if (!run.ok() && run.error().code == ErrorCode::not_found) return std::optional<RunRow>();
  if (!run.ok()) return std::move(run).error();
  bool is_seen = takes_in(whose.runs, run->user) || takes_in(whose.approvals, run->user);
  if (!is_seen) return std::optional<RunRow>();
  return std::optional(*std::move(run));
}

Result<Approvals> of_run(Snapshot& view, const RunRow& run, bool only_open, std::size_t limit) {
  ApprovalFilter filter;
  filter.tenant = run.tenant;
  filter.run = run.run;
  filter.only_open = only_open;
  filter.limit = limit;
  return view.approvals(filter);
}

Result<ApprovalRow> asked_by(Snapshot& view, const RunRow& run, const Whose& whose,
                             const std::string& call) {
  std::string thread = "Thread \"" + run.thread.text + "\"";
  BELAY_TRY(Approvals open, of_run(view, run, true, 2));
  if (open.size() > 1) {
    return error(ErrorCode::invalid,
                 thread + " has several pending approvals. Name one of their ids: see `" + call +
                     " approvals list`.");
  }
  if (!open.empty()) return std::move(open.front());
  BELAY_TRY(Approvals newest, of_run(view, run, false, 1));
  if (!newest.empty()) return std::move(newest.front());
  // An error about approvals must not reveal the status of another user's run.
  if (!takes_in(whose.runs, run.user)) return unknown(run.thread.text, call);
  std::string_view status = name_of(run.status);
  if (is_final(run.status)) {
    return error(ErrorCode::conflict,
                 thread + " has " + std::string(status) +
                     " without requesting an approval, so there is nothing to decide.");
  }
  return error(ErrorCode::conflict, thread + " is " + std::string(status) +
                                        " and has no pending approval. See `" + call + " state " +
                                        run.thread.text + "`.");
}

// Returns the smallest and the largest id with this prefix; nullopt if no id can have it.
std::optional<std::pair<InterruptId, InterruptId>> ids_from(const std::string& prefix) {
  if (prefix.empty() || prefix.size() > kUuidForm.size()) return std::nullopt;
  std::string least(kUuidForm), greatest(kUuidForm);
  std::replace(least.begin(), least.end(), 'x', '0');
  std::replace(greatest.begin(), greatest.end(), 'x', 'f');
  least.replace(0, prefix.size(), prefix);
  greatest.replace(0, prefix.size(), prefix);
  auto first = uuid_from(least);
  auto last = uuid_from(greatest);
  if (!first || !last) return std::nullopt;
  return std::pair(InterruptId(*first), InterruptId(*last));
}

// Returns at most two approvals with this prefix, searched among all of them.
Result<Approvals> with_prefix(Snapshot& view, const TenantId& tenant, const std::string& id,
                              const Whose& whose) {
  auto ids = ids_from(id);
  if (!ids || id.size() < kIdPrefixMin) return Approvals();
  ApprovalFilter filter;
  filter.tenant = tenant;
  filter.user = whose.approvals;
  filter.between = ids;
  filter.limit = 2;
  return view.approvals(filter);
}

Error several(const std::string& id, const Approvals& found) {
  return error(ErrorCode::invalid, "Several approvals begin with \"" + id +
                                       "\": " + in_short(found[0]) + ", and " + in_short(found[1]) +
                                       ". Provide more characters of the id.");
}

Error ambiguous(const std::string& id, const Approvals& found) {
  std::string text = "\"" + id + "\" matches a thread and approval " + in_short(found[0]) +
                     ". Provide the whole approval id.";
  return error(ErrorCode::invalid, std::move(text));
}

}  // namespace

Result<ApprovalRow> find_approval_of(Snapshot& view, const TenantId& tenant, const ThreadId& thread,
                                     const Whose& whose, const std::string& call) {
  BELAY_TRY(std::optional<RunRow> run, run_named(view, tenant, thread, whose));
  if (!run) return unknown(thread.text, call);
  return asked_by(view, *run, whose, call);
}

Result<ApprovalRow> find_approval(Snapshot& view, const TenantId& tenant, const std::string& id,
                                  const Whose& whose, const std::string& call) {
  if (auto uuid = uuid_from(id)) {
    ApprovalFilter filter;
    filter.tenant = tenant;
    filter.interrupt = InterruptId(*uuid);
    filter.user = whose.approvals;
    BELAY_TRY(Approvals found, view.approvals(filter));
    if (!found.empty()) return std::move(found.front());
  }
  BELAY_TRY(std::optional<RunRow> run, run_named(view, tenant, ThreadId(id), whose));
  BELAY_TRY(Approvals found, with_prefix(view, tenant, id, whose));
  if (run) {
    auto asked = asked_by(view, *run, whose, call);
    bool is_it = asked.ok() && found.size() == 1 && found[0].interrupt == asked->interrupt;
    if (!found.empty() && !is_it) return ambiguous(id, found);
    return asked;
  }
  if (found.size() > 1) return several(id, found);
  if (!found.empty()) return std::move(found.front());
  if (ids_from(id) && id.size() < kIdPrefixMin) {
    return error(ErrorCode::invalid, "\"" + id +
                                         "\" is too short for an approval id. Provide at least " +
                                         std::to_string(kIdPrefixMin) + " characters.");
  }
  return unknown(id, call);
}

}  // namespace belay
