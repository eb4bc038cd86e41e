#include "load/declared_programs.h"

#include <algorithm>
#include <limits>

namespace belay {
namespace {

// The key of a record is a session, its value the versions by graph.
constexpr std::string_view kDeclaredPrograms = "belay.programs";
constexpr const char* kEveryVersion = "*";

struct StoredDeclarations {
  std::map<std::string, DeclaredVersions> by_session;
  std::vector<SessionRow> sessions;
};

DeclaredVersions versions_in(const StoredRecord& row) {
  DeclaredVersions found;
  auto text = json_in_envelope(row.envelope);
  auto graphs = text.ok() ? parse_json(*text) : Result<Value>(Value());
  if (!graphs.ok() || !graphs->as_object()) return found;
  for (const auto& [graph, versions] : *graphs->as_object()) {
    if (!versions.as_array()) continue;
    for (const Value& version : *versions.as_array()) {
      if (version.as_string()) found[graph].insert(*version.as_string());
    }
  }
  return found;
}

Result<StoredDeclarations> read_declarations(Snapshot& view, const TenantId& tenant) {
  StoredDeclarations found;
  RecordQuery query;
  query.tenant = tenant;
  query.collection = kDeclaredPrograms;
  BELAY_TRY(std::vector<StoredRecord> rows, view.records(query));
  for (const StoredRecord& row : rows) found.by_session.emplace(row.key, versions_in(row));
  SessionFilter every;
  every.limit = std::numeric_limits<std::int32_t>::max();
  BELAY_TRY(found.sessions, view.sessions(every));
  return found;
}

Task<Result<StoredDeclarations>> stored_declarations(Store& store, TenantId tenant) {
  std::function<Result<StoredDeclarations>(Snapshot&)> reader =
      [tenant = std::move(tenant)](Snapshot& view) { return read_declarations(view, tenant); };
  co_return co_await read<StoredDeclarations>(store, std::move(reader));
}

RecordWrite record_of(const std::string& session) {
  RecordWrite record;
  record.collection = kDeclaredPrograms;
  record.key = session;
  record.is_of_tenant = true;
  return record;
}

RecordWrite declaration_of(const SessionId& session, const DeclaredVersions& declared) {
  Value::Object graphs;
  for (const auto& [graph, versions] : declared) {
    graphs.emplace(graph, Value::Array(versions.begin(), versions.end()));
  }
  RecordWrite record = record_of(session.text());
  record.json = to_json(Value(std::move(graphs)));
  return record;
}

}  // namespace

bool OtherPrograms::might_continue(const std::string& graph, const Digest& version) const {
  if (has_undeclared) return true;
  return std::any_of(declared.begin(), declared.end(), [&](const DeclaredVersions& each) {
    auto found = each.find(graph);
    if (found == each.end()) return false;
    return found->second.contains(kEveryVersion) || found->second.contains(to_hex(version));
  });
}

DeclaredVersions declared_versions(const GraphRegistry& graphs) {
  DeclaredVersions declared;
  for (const std::string& name : graphs.names()) declared[name] = graphs.continued_versions(name);
  return declared;
}

Task<Result<std::vector<RecordWrite>>> program_declaration(
    Store& store, TenantId tenant, SessionId own, std::shared_ptr<const GraphRegistry> graphs) {
  BELAY_CO_TRY(StoredDeclarations found, co_await stored_declarations(store, std::move(tenant)));
  std::vector<RecordWrite> records;
  for (const auto& [session, versions] : found.by_session) {
    auto id = uuid_from(session);
    bool is_alive = false;
    if (id) {
      BELAY_CO_TRY(is_alive, store.is_alive(SessionId(*id)));
    }
    if (is_alive) continue;
    records.push_back(record_of(session));
    records.back().erase = true;
  }
  records.push_back(declaration_of(own, declared_versions(*graphs)));
  co_return records;
}

Task<Result<OtherPrograms>> other_programs(Store& store, TenantId tenant, SessionId own) {
  BELAY_CO_TRY(StoredDeclarations found, co_await stored_declarations(store, std::move(tenant)));
  OtherPrograms others;
  for (const SessionRow& each : found.sessions) {
    if (each.session == own) continue;
    BELAY_CO_TRY(bool is_alive, store.is_alive(each.session));
    if (!is_alive) continue;
    auto declared = found.by_session.find(each.session.text());
    if (declared == found.by_session.end()) {
      others.has_undeclared = true;
    } else {
      others.declared.push_back(std::move(declared->second));
    }
  }
  co_return others;
}

}  // namespace belay
