#include "cli/encryption_diagnostics.h"

#include <filesystem>

#include "cli/key_file.h"
#include "cli/read_only_store.h"
#include "store/sqlite/migrations.h"

namespace belay::cli {
namespace {

using Kind = Diagnostic::Kind;

std::string listed(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += std::to_string(count) + (name.empty() ? " in plaintext" : " with the key " + name);
  }
  return text.empty() ? "nothing stored yet" : text;
}

Diagnostic encryption_finding(const EncryptionOptions& encryption, const EncryptionReport& report) {
  bool has_key = !encryption.keys.empty();
  std::string detail = has_key ? "on, key " + encryption.keys.ids().front() : "off";
  detail += "; values: " + listed(report.keys);
  if (report.unreadable > 0) {
    return {"encryption", Kind::bad,
            detail + "; " + std::to_string(report.unreadable) +
                " cannot be read: " + report.first_fault,
            "name the right key file with --key-file or BELAY_KEY_FILE"};
  }
  if (!has_key) return {"encryption", Kind::good, detail, ""};
  if (report.plaintext_digests > 0) {
    return {"encryption", encryption.accept_plaintext ? Kind::warning : Kind::bad,
            detail + "; " + std::to_string(report.plaintext_digests) +
                " plaintext rows or digests, which are rejected if a key is set",
            "if they were written before a key was set, or by an older Belay: store encrypt"};
  }
  for (const auto& [id, count] : report.keys) {
    if (id.empty()) {
      return {"encryption", encryption.accept_plaintext ? Kind::warning : Kind::bad,
              detail + "; plaintext values are rejected if a key is set",
              "if they were written before a key was set: store encrypt"};
    }
    if (id != encryption.keys.ids().front()) {
      return {"encryption", Kind::good, detail, "run store rotate to remove older keys"};
    }
  }
  return {"encryption", Kind::good, detail, ""};
}

Result<EncryptionReport> report_of(const std::string& path, const EncryptionOptions& encryption) {
  BELAY_TRY(std::unique_ptr<sqlite::Connection> connection,
            sqlite::Connection::open(path, sqlite::Connection::Mode::read_only));
  connection->leave_log_alone();
  BELAY_TRY(std::int64_t version, connection->number("PRAGMA user_version"));
  if (version != static_cast<std::int64_t>(sqlite::migrations().size())) return EncryptionReport();
  ReadOnlyStore store(std::move(connection));
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  return block_on<Result<EncryptionReport>>(
      *loop, belay::inspect_encryption(store, *random, encryption, default_tenant()));
}

}  // namespace

std::vector<Diagnostic> diagnose_encryption(const Settings& settings) {
  auto encryption = encryption_of(settings);
  if (!encryption.ok()) return {{"encryption", Kind::bad, encryption.error().message, "see above"}};
  std::optional<std::string> path = path_of_store(settings.store);
  std::error_code ignored;
  if (!path || !std::filesystem::is_regular_file(*path, ignored)) return {};
  // Plaintext is counted instead of being refused.
  EncryptionOptions looking = *encryption;
  looking.accept_plaintext = true;
  auto report = report_of(*path, looking);
  if (!report.ok()) return {};
  return {encryption_finding(*encryption, *report)};
}

}  // namespace belay::cli
