#pragma once
// langgraph/run_endings.h - RunEndings: the work after the end of a run of the protocol: the
// request to its webhook, and the deletion of the thread of a run without one.
//
// The work is a record that is saved before the run starts. Any server on the store does it
// (server/due_deliveries.h), also if the one that started the run is killed at any point. Each
// request is sent at least once, with the id of the run as its Idempotency-Key. A record whose
// webhook was given up remains, with its last error, for limits::steering_kept.
//
// A record of a run that was never started is erased after kStartWindow.
//
// Threading: the executor's thread.

#include <memory>

#include "langgraph/run_segment.h"
#include "server/due_deliveries.h"

namespace belay::langgraph {

struct RunEnding {
  static constexpr std::string_view collection = "langgraph_endings";
  static constexpr bool is_of_tenant = true;  // the servers read those of all users

  std::string id{};        // of the run of the protocol; expected, until its start has ended
  std::string run{};       // of the service
  std::int64_t after = 0;  // as in RunRecord
  std::string thread{}, user{};
  std::string webhook{};  // an address; empty: none
  // Unless the run waits for a person, or its thread had an earlier one.
  bool deletes_thread = false;
  Instant created_at{};

  // The state of the work.
  std::optional<Instant> sent_at{};  // the webhook has accepted the request
  bool ended = false;
  Instant wake{};  // no server reads the record before this time
  std::string claim{};
  std::int64_t failures = 0;  // in a row
  std::string last_error{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    return std::tuple{ordered_index("due", &RunEnding::ended, &RunEnding::wake)};
  }
  Instant expires_at() const { return ended ? wake + limits::steering_kept : Instant(); }
  friend bool operator==(const RunEnding&, const RunEnding&) = default;
};

// Longer than a start.
inline constexpr std::chrono::minutes kStartWindow{2};

class RunEndings final : public server::DueDeliveries<RunEnding, ProtocolRun> {
 public:
  // `served`: lives as long as the endings. Without `http`, there are no webhooks.
  RunEndings(AgentServer& served, std::shared_ptr<HttpAccess> http)
      : DueDeliveries(served.world), served_(served), http_(std::move(http)) {}

  bool has_webhooks() const { return http_ != nullptr; }
  // Saves the ending of a run before its start; one that exists remains unchanged. No server looks
  // at it for this time, or until started(). Returns whether it is new.
  Task<Result<bool>> add(RunEnding ending, std::chrono::minutes unseen = kStartWindow);
  // The start has ended, with this run.
  Task<Result<Done>> started(std::string expected_id, RunRecord run);
  // The start has failed.
  Task<Result<Done>> withdraw(std::string expected_id);
  // Returns the ending of a run; nullopt if it has none.
  Task<Result<std::optional<RunEnding>>> find(std::string id);

 private:
  Task<Result<std::optional<ProtocolRun>>> work_on(const RunEnding& ending) override;
  UserId user_of(const RunEnding& ending, const ProtocolRun&) const override {
    return UserId(ending.user);
  }
  Task<Result<Done>> perform(Versioned<RunEnding>& ending, ProtocolRun& run) override;
  Task<Result<RunRow>> row_of(const RunEnding& ending);
  Task<Result<Done>> give_up(const RunEnding& ending, const ProtocolRun& run, Error failed);
  Task<Result<Done>> notify(Versioned<RunEnding>& ending, const ProtocolRun& run);
  Task<Result<Value>> payload_of(const ProtocolRun& run);
  Task<Result<Done>> delete_thread(const ProtocolRun& run);

  AgentServer& served_;
  const std::shared_ptr<HttpAccess> http_;
};

// The state of a webhook, for the document of its run: {"status", "failures", "last_error",
// "sent_at"}; null without one. The status is pending, delivered or failed.
Value webhook_document(const std::optional<RunEnding>& ending);

}  // namespace belay::langgraph
