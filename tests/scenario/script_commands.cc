#include "tests/scenario/script_commands.h"

namespace belay::scenario {
namespace {

constexpr std::size_t kAny = 100;
constexpr std::string_view kRunOptions =
    "thread! input expires max-tokens max-cost timeout max-retries approval";
constexpr std::string_view kQueueOptions =
    "thread! input expires max-tokens max-cost timeout max-retries approval after";

}  // namespace

const std::vector<WordRule>& all_words() {
  static const std::vector<WordRule> all = {
      // The initial state.
      {"stores", 1, 9, "", "stores NAME..."},
      {"graph", 1, 1, "", "graph NAME"},
      {"note", 2, 2, "", "note DATE TEXT"},
      {"model says", 1, 1, "tokens", "model says TEXT [tokens=N]"},
      {"model fails", 0, 1, "", "model fails [TEXT]"},
      {"receiver fails", 2, 2, "", "receiver fails TOPIC TIMES"},
      {"key", 1, 1, "", "key right|wrong|none"},
      {"user", 1, 1, "", "user NAME"},
      {"hold", 1, 1, "", "hold PLACE"},
      {"release", 1, 1, "", "release PLACE"},
      {"wait", 1, 1, "", "wait 300ms"},
      // Actions of users and programs.
      {"start", 0, 0, kRunOptions, "start thread=NAME [input={...}]"},
      {"enqueue", 0, 0, kQueueOptions, "enqueue thread=NAME [input={...}] [after=TIME]"},
      {"worker", 0, 0, "", "worker"},
      {"worker begins", 1, 1, "", "worker begins NAME"},
      {"worker ends", 1, 1, "", "worker ends NAME"},
      {"resume", 1, 1, "", "resume THREAD|all"},
      {"answer", 2, 2, "thread by comment edit asked",
       "answer NODE yes|no|happened|redo [by=NAME] [edit=JSON]"},
      {"cancel", 1, 1, "by", "cancel THREAD [by=NAME]"},
      {"fork", 1, 1, "as! at edit", "fork THREAD as=NAME [at=COMMIT] [edit={...}]"},
      {"copy", 1, 1, "as!", "copy THREAD as=NAME"},
      {"replay", 1, 1, "", "replay THREAD"},
      {"prune", 0, 0, "older-than!", "prune older-than=TIME"},
      {"preserve", 1, 1, "", "preserve THREAD"},
      {"unpreserve", 1, 1, "", "unpreserve THREAD"},
      {"outbox", 2, 2, "", "outbox retry|discard TOPIC"},
      {"type", 1, kAny, "", "type WORDS..."},
      {"crash", 0, 0, "", "crash"},
      {"crash in", 1, 1, "", "crash in PLACE"},
      {"crash before", 2, 2, "", "crash before commit N"},
      {"crash after", 2, 2, "", "crash after commit N"},
      // Expectations.
      {"model-calls", 1, 1, "", "model-calls N"},
      {"expect done", 0, 0, "thread outcome", "expect done [thread=NAME] [outcome=TEXT]"},
      {"expect waiting", 0, 0, "thread approval question",
       "expect waiting [approval=NODE] [question=TEXT]"},
      {"expect failed", 0, 0, "thread code says", "expect failed [code=CODE] [says=TEXT]"},
      {"expect cancelled", 0, 0, "thread", "expect cancelled [thread=NAME]"},
      {"expect expired", 0, 0, "thread", "expect expired [thread=NAME]"},
      {"expect queued", 0, 0, "thread", "expect queued [thread=NAME]"},
      {"expect unfinished", 0, 0, "thread", "expect unfinished [thread=NAME]"},
      {"expect no-thread", 1, 1, "", "expect no-thread NAME"},
      {"expect state", 1, 1, "thread at", "expect state {...} [at=COMMIT]"},
      {"expect commits", 1, 1, "thread", "expect commits N"},
      {"expect committed", 2, 2, "thread", "expect committed NODE N"},
      {"expect spent", 1, 1, "thread", "expect spent TOKENS"},
      {"expect decided", 2, 2, "thread by", "expect decided NODE approved|rejected|expired|..."},
      {"expect answer", 1, 1, "", "expect answer won|same|lost|expired|closed"},
      {"expect refused", 0, 1, "exit", "expect refused [TEXT] [exit=CODE]"},
      {"expect says", 1, 1, "", "expect says TEXT"},
      {"expect no-difference", 0, 0, "", "expect no-difference"},
      {"expect difference", 0, 1, "", "expect difference [NODE]"},
      {"expect ran", 2, 2, "", "expect ran NODE TIMES"},
      {"expect called", 2, 2, "keys", "expect called EFFECT TIMES [keys=N]"},
      {"expect received", 2, 2, "ids", "expect received TOPIC TIMES [ids=N]"},
      {"expect messages", 3, 3, "", "expect messages TOPIC waiting|delivered|given_up N"},
      {"expect holding", 1, 1, "", "expect holding PLACE"},
      {"expect hidden", 1, 1, "", "expect hidden TEXT"},
  };
  return all;
}

}  // namespace belay::scenario
