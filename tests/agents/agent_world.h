#pragma once
// tests/agents/agent_world.h - an agent in processes that end, a model server that it calls over
// HTTP, and the receivers of its calls
//
// The server has one of the three providers' protocols, rejects each request that the provider
// would reject, and keeps the bytes of the others. A process ends without any further effect on the
// store; the next one opens the store, and has its own model and connections.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "belay/agent.h"
#include "belay/models.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/providers/scripted_provider.h"

namespace belay::agents {

// A request as the script of a server reads it.
struct Heard {
  providers::Provider provider = providers::Provider::openai;
  Value body;
  int number = 1;                         // of the requests so far, rejected ones included
  std::vector<std::string> results = {};  // of all calls of the conversation, in order
  providers::Told reply(const providers::Speech& speech) const {
    return providers::told(provider, body, speech);
  }
};
using Script = std::function<providers::Told(const Heard&)>;

// The point at which a process ends: the `number`-th event of that kind, counted since die_at().
enum class Death { none, before_commit, after_commit, request, call };
struct DeathPoint {
  Death kind = Death::none;
  int number = 0;
};

enum class Verdict { approve, reject, edit, expire };

struct CallArguments {
  std::string to{};
};

class AgentWorld {
 public:
  AgentWorld(providers::Provider provider, Script script, AgentOptions options = {},
             ModelSettings settings = {});
  ~AgentWorld();
  AgentWorld(const AgentWorld&) = delete;
  AgentWorld& operator=(const AgentWorld&) = delete;

  // Returns a tool whose calls are counted by their key; its result is "NAME to TO".
  Tool counted_tool(ToolOptions options);
  // Adds the tools, which can be those of counted_tool(). Call this before ask().
  void use(std::vector<Tool> tools);

  // The current process, or a later one, ends at this point. Once for each call of die_at().
  void die_at(DeathPoint point);

  // Starts a run with this question, and executes it until it has ended or waits for a person. If
  // the process ends, others continue.
  RunView ask(const std::string& question);
  // Decides on the open approval of this call, and continues as above. Verdict::expire: does
  // nothing.
  RunView decide(const std::string& call, Verdict verdict);
  // Lets a day pass, after which open approvals have expired.
  RunView wait_a_day();
  void cancel();
  RunView view();
  // Returns all events of the current run that a reader without `follow` receives.
  std::vector<StreamEvent> events();

  // For each tool, the number of calls by key.
  std::map<std::string, std::map<std::string, int>> received = {};
  // For each tool, the number of calls by recipient.
  std::map<std::string, std::map<std::string, int>> sent = {};
  int deaths = 0;
  int commits = 0;  // since die_at()
  EventLoop& loop() { return *loop_; }

  // The bodies of the accepted requests, and the reasons of the rejected ones.
  std::vector<std::string> bodies() const;
  std::vector<std::string> rejections() const;
  // Describes the first request that does not begin with the bytes of the previous one; "" if all
  // do.
  std::string prefix_fault() const;
  // The number of responses whose connection was closed by the client. The server notices it when
  // it writes: waits up to 30 s until there is at least one.
  int closed_early() const;

 private:
  class DyingStore;
  class MovedClock;

  providers::Told answer(const providers::Asked& asked);
  // Returns whether the process ends at this event.
  bool dies_at(Death event);
  void die();
  void restart();
  // Executes the task until it has ended, or the process has.
  template <typename T>
  std::optional<T> play(Task<T> task);
  // Continues after the end of a process, and lets a person decide on calls of unknown outcome, who
  // looks at the receivers.
  RunView settle();
  bool settle_uncertain(const RunView& seen);

  const providers::Provider provider_;
  const Script script_;
  AgentOptions options_;
  ModelSettings settings_;
  std::unique_ptr<MovedClock> clock_;
  testing::SeededRandom random_{1};
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> kept_;
  std::unique_ptr<DyingStore> store_;
  std::optional<Graph<AgentState>> graph_;
  int questions_ = 0;

  mutable std::mutex mutex_;  // of the following four
  DeathPoint death_;
  int events_until_death_ = 0;
  std::vector<std::string> bodies_;
  std::vector<std::string> rejections_;
  std::atomic<bool> is_dead_ = false;
  std::atomic<int> requests_ = 0;

  providers::ScriptedProvider server_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Runtime> runtime_;
};

// The number of cases of a campaign: those of a soak if BELAY_SOAK_AGENTS is set.
int cases_of(int in_ci, int in_soak);

}  // namespace belay::agents
