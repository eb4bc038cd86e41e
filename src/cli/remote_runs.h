#pragma once
// cli/remote_runs.h - what there is in place of a store when a server has the runs: the way to it,
// and the service behind it.

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "client/remote_service.h"

namespace belay::cli {

class RemoteRuns {
 public:
  // Talks to nobody yet. `invalid` for an address or a key that is none. What is handed in outlives
  // it; settings.server is set.
  static Result<std::unique_ptr<RemoteRuns>> open(const Settings& settings, Executor& executor,
                                                  Random& random, ProgressObserver observer);
  RemoteRuns(std::unique_ptr<net::HttpClient> http, client::ServerAddress address,
             client::ConnectionOptions options);

  Service& service() { return *service_; }

  // belay doctor: whether it answers, takes work, and is of this version.
  Task<Result<ExitCode>> examine(Output& output);

 private:
  std::unique_ptr<net::HttpClient> http_;
  client::Connection connection_;
  std::unique_ptr<Service> service_;
};

// What a verb needs a store of its own for; empty for one that a server can answer.
std::string_view needs_a_store(const Command& verb);

}  // namespace belay::cli
