// `belay store encrypt` and `rotate`: re-encrypt the store under the active key, while other
// processes use it.

#include "cli/command_context.h"
#include "cli/command_list.h"

namespace belay::cli {
namespace {

constexpr const char* kStoreEncryptHelp =
    R"help(Encrypts values that were stored before a key was set. Other processes can continue
meanwhile, with the same key file and BELAY_ACCEPT_PLAIN=true; restart them without that setting
afterwards. The command can be stopped and repeated.

Example:
  (umask 077; echo "k1:$(head -c 32 /dev/urandom | base64)" > keys)
  {p} store encrypt --key-file keys
)help";
constexpr const char* kStoreRotateHelp =
    R"(Add the new key as the first line, restart every process with the new file, then rotate.
Afterwards the other keys can be removed; belay doctor lists the keys that are still in use. Keep a
key as long as a backup needs it.

Example:
  {p} store rotate --key-file keys
)";

class StoreEncryptCommand final : public Command {
 public:
  explicit StoreEncryptCommand(bool accept_plaintext) : accept_plaintext_(accept_plaintext) {}

  Task<CommandResult> run(CommandContext& world) override {
    if (world.local->encryption.keys.empty()) {
      co_return error(
          ErrorCode::invalid,
          "No encryption key is set. Name a key file with --key-file or BELAY_KEY_FILE, or see " +
              world.settings.call + " store encrypt --help.");
    }
    EncryptionOptions encryption = world.local->encryption;
    encryption.accept_plaintext = accept_plaintext_;
    std::string active = encryption.keys.ids().front();
    BELAY_CO_TRY(ReencryptReport report,
                 co_await reencrypt(world.local->stored, world.random, std::move(encryption),
                                    world.who.tenant));
    world.output.line(std::to_string(report.rewritten) + " values encrypted with the key " +
                      active + (report.complete ? ", the only one in use now." : "."));
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

 private:
  bool accept_plaintext_;  // false: refuses plaintext
};

// A store with plaintext cannot be read with a key before the command has encrypted it.
constexpr CommandTraits kStoreEncryptTraits{.needs_own_store = "store encrypt and rotate change",
                                            .processes_due = false};

}  // namespace

CommandSpec builtin::store_encrypt_command(const Program&) {
  return {.path = {"store", "encrypt"},
          .line = "Encrypt plaintext values",
          .end = kStoreEncryptHelp,
          .traits = kStoreEncryptTraits,
          .make = [] { return std::make_unique<StoreEncryptCommand>(true); }};
}

CommandSpec builtin::store_rotate_command(const Program&) {
  return {.path = {"store", "rotate"},
          .line = "Re-encrypt everything with the first key",
          .end = kStoreRotateHelp,
          .traits = kStoreEncryptTraits,
          .make = [] { return std::make_unique<StoreEncryptCommand>(false); }};
}

}  // namespace belay::cli
