#pragma once
// cli/remote_runs.h - RemoteRuns: the connection to a server that has the runs, and the service
// behind it; used instead of a store.

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "client/remote_service.h"

namespace belay::cli {

class RemoteRuns {
 public:
  // Does not connect yet. Fails with `invalid` for an invalid address or key. Requires
  // settings.server; the arguments must outlive the object.
  static Result<std::unique_ptr<RemoteRuns>> open(const Settings& settings, Executor& executor,
                                                  Random& random, ProgressObserver observer);
  RemoteRuns(std::unique_ptr<net::HttpClient> http, client::ServerAddress address,
             client::ConnectionOptions options);

  Service& service() { return *service_; }
  // For requests without an operation of the service.
  client::Connection& connection() { return connection_; }

  // `belay doctor`: checks that the server responds, accepts work, and has this version.
  Task<Result<ExitCode>> examine(Output& output);

 private:
  std::unique_ptr<net::HttpClient> http_;
  client::Connection connection_;
  std::unique_ptr<Service> service_;
};

}  // namespace belay::cli
