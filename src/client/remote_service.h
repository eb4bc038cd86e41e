#pragma once
// client/remote_service.h - creates a Service for the runs of a Belay server, over HTTP.
//
// A call that executes a run returns when the run has ended or is paused, as with a local service,
// however long that takes and however often the connection breaks: the request is repeated with the
// same thread, so no run is started twice, and the run's events are followed. The service waits for
// a server that has responded before (ConnectionOptions::patience); it fails immediately if there
// never was a response.
//
// The principal of a call is ignored: the server determines it by the connection's token, and
// enforces its access.
//
// Errors in addition to those of Service: `unavailable` if the server cannot be reached; `invalid`
// if it does not respond like a Belay server, does not know the key, or does not permit the call.
// The messages name the server, and --server or --api-key-file.

#include "belay/service.h"
#include "client/connection.h"

namespace belay::client {

// All of it must outlive the service.
struct RemoteServiceParts {
  Connection& connection;
  Executor& executor;
  Random& random;
  ProgressObserver observer = nullptr;  // receives the progress events of the runs that a call
                                        // waits for
  // Maximum time that one request waits for its run; then another request follows.
  std::chrono::milliseconds wait{30'000};
};

std::unique_ptr<Service> make_remote_service(RemoteServiceParts parts);

}  // namespace belay::client
