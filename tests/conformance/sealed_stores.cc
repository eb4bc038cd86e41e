#include "tests/conformance/sealed_stores.h"

namespace belay::conformance {
namespace {

class OwningStore final : public Store {
 public:
  OwningStore(std::unique_ptr<Store> inner, Random& random, Sealing sealing)
      : inner_(std::move(inner)), sealed_(seal_store(*inner_, random, std::move(sealing))) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    return sealed_->commit(std::move(commit));
  }
  Task<Result<Done>> read(Reader reader) override { return sealed_->read(std::move(reader)); }
  Result<SessionId> open_session() override { return sealed_->open_session(); }
  void close_session(const SessionId& session) override { sealed_->close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return sealed_->is_alive(session); }
  Result<StoreStatistics> statistics() override { return sealed_->statistics(); }
  Result<Done> compact() override { return sealed_->compact(); }

 private:
  std::unique_ptr<Store> inner_;
  std::unique_ptr<Store> sealed_;
};

}  // namespace

KeyRing keys_named(const std::string& letters) {
  std::string lines;
  for (char letter : letters) {
    lines += "key-" + std::string(1, letter) + ":" + std::string(64, letter) + "\n";
  }
  return KeyRing::from_text(std::move(lines)).value();
}

Sealing all_of_sealing() {
  Sealing sealing;
  sealing.keys = keys_named("a");
  sealing.compress_from = 8;
  sealing.blob_above = 16;
  return sealing;
}

std::unique_ptr<Store> sealed_around(std::unique_ptr<Store> inner, Random& random,
                                     Sealing sealing) {
  return std::make_unique<OwningStore>(std::move(inner), random, std::move(sealing));
}

}  // namespace belay::conformance
