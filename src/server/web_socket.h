#pragma once
// server/web_socket.h - routes that accept a WebSocket (http/web_socket.h).
//
//     Route route = route_of("GET", "/echo", "echo", "Returns each message");
//     route.open_web_socket = [](Call) -> Task<Result<std::unique_ptr<WebSocketSession>>> {
//       co_return std::make_unique<Echo>();
//     };
//
// Before the handshake, the request passes all steps of other requests (api.h): caller, permission,
// rate limits, parameters. A page of another origin is refused with 403 unless CORS allows the
// origin, also with a key. A faulty handshake is answered as a request: 400, or 426 without one.
// An error that open_web_socket returns is answered likewise.
//
// Threading: the loop's thread.

#include <optional>

#include "http/web_socket.h"

namespace belay::server {

using http::WebSocket;
using http::WebSocketCode;
using http::WebSocketLimits;
using http::WebSocketSession;

// Returns the response to a faulty handshake; nullopt for a valid one.
std::optional<http::Response> check_handshake(const http::Request& head);

}  // namespace belay::server
