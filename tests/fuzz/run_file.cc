// A run as a file from an untrusted sender: it is rejected with a reason, or it is a run that
// satisfies every rule in an otherwise empty store; its export equals the file.

#include "service/run_file.h"

#include "belay/testing.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

// The digest is not a secret: a sender who changes a file can change the digest too.
Value with_its_digest(const Value& document) {
  const Value::Object* members = document.as_object();
  if (!members) return document;
  Value::Object sealed = *members;
  sealed.erase("digest");
  std::string digest = to_hex(sha256(to_json(Value(sealed))));
  sealed.emplace("digest", std::move(digest));
  return Value(std::move(sealed));
}

void check(const Value& document) {
  auto file = run_file_from(document);
  if (!file.ok()) return require_sound(file.error());
  testing::SimulatedClock clock{Instant(std::chrono::hours(500'000))};
  testing::SeededRandom random{1};
  testing::SimulatedLoop loop{clock};
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  ThreadId thread = file->contents.row.thread;
  auto imported = block_on(loop, import_run(*store, CheckScope(), *file, true, clock, random));
  if (!imported.ok()) return require_sound(imported.error());
  auto again =
      block_on(loop, export_run(*store, CheckScope(), thread, std::nullopt, clock.now(), "belay"));
  require(again.ok(), "what was imported can be exported");
  require(run_file_from(*again).ok(), "what is written can be read");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(RunFile, "run_file") {
  using namespace belay;
  auto document = parse_json(input);
  if (!document.ok()) return;
  fuzz::check(*document);
  fuzz::check(fuzz::with_its_digest(*document));
}
