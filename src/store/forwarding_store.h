#pragma once
// store/forwarding_store.h - forwards each call to another store: the base class of stores that
// change or observe some of the calls.

#include <utility>

#include "belay/store.h"

namespace belay {

class ForwardingStore : public Store {
 public:
  // `inner` must outlive this object.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    return inner_.commit(std::move(commit));
  }
  bool accepts_commits() const override { return inner_.accepts_commits(); }
  bool lease_is_fresh() const override { return inner_.lease_is_fresh(); }
  Clock* clock() override { return inner_.clock(); }
  void set_shutting_down(bool is_so) override { inner_.set_shutting_down(is_so); }
  Task<Result<Done>> read(Reader reader) override { return inner_.read(std::move(reader)); }
  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    return inner_.poll_runs(std::move(filter));
  }
  std::optional<std::uint64_t> change_token() override { return inner_.change_token(); }
  Result<SessionId> open_session() override { return inner_.open_session(); }
  void close_session(const SessionId& session) override { inner_.close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return inner_.is_alive(session); }
  Result<StoreStatistics> statistics() override { return inner_.statistics(); }
  Result<Done> compact() override { return inner_.compact(); }

 protected:
  Store& inner() const { return inner_; }

 private:
  Store& inner_;
};

}  // namespace belay
