#pragma once
// client/remote_service.h - a service of the runs behind a Belay server, over HTTP.
//
// A call that makes a run move waits as a local one does, until the run has ended or waits, however
// long that takes and however often the connection breaks: the request is sent again with the same
// thread, so nothing is begun twice, and the run is followed by its events. A server that has
// answered before is waited for (ConnectionOptions::patience); one that never did is told at once.
//
// Errors beside those of Service: `unavailable` for a server that can't be reached, `invalid` for
// what answers otherwise than a Belay server does, for a key that it does not know or that may not
// do it. The sentences name the server, and --server or --api-key-file.

#include "client/connection.h"
#include "service/service.h"

namespace belay::client {

// All of it outlives the service.
struct RemoteServiceParts {
  Connection& connection;
  Executor& executor;
  Random& random;
  ProgressObserver observer = nullptr;  // told how the runs get on that are waited for
  // How long one request waits for its run before the run is asked for again.
  std::chrono::milliseconds wait{30'000};
};

std::unique_ptr<Service> make_remote_service(RemoteServiceParts parts);

}  // namespace belay::client
