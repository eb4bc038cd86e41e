// `belay store encrypt` and `rotate`: re-encrypt the store under the active key, while other
// processes use it.

#include "cli/commands.h"

namespace belay::cli {

Task<CommandResult> seal_whole_store(CommandContext& world, StoreEncrypt wanted) {
  if (world.local->encryption.keys.empty()) {
    co_return error(
        ErrorCode::invalid,
        "No encryption key is set. Name a key file with --key-file or BELAY_KEY_FILE, or see " +
            world.settings.call + " store encrypt --help.");
  }
  EncryptionOptions encryption = world.local->encryption;
  encryption.accept_plaintext = wanted.accept_plaintext;
  std::string active = encryption.keys.ids().front();
  BELAY_CO_TRY(ReencryptReport report, co_await reencrypt(world.local->stored, world.random,
                                                          std::move(encryption), tenant_of(world)));
  world.output.line(std::to_string(report.rewritten) + " values encrypted with the key " + active +
                    (report.complete ? ", the only one in use now." : "."));
  if (!report.complete) {
    world.output.line(
        "Other processes still write with another key or without one. Restart them with this key "
        "file, then run this command again.");
  }
  world.output.document(Value::object({{"key", active},
                                       {"rewritten", report.rewritten},
                                       {"passes", std::int64_t{report.passes}},
                                       {"complete", report.complete}}));
  co_return report.complete ? ExitCode::done : ExitCode::conflict;
}

}  // namespace belay::cli
