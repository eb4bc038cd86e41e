#pragma once
// agents/research/graph/neo4j_query.h - requests to Neo4j's HTTP Query API, and the verdict on
// their responses.
//
// POST {url}/db/{database}/query/v2 with {"statement": ..., "parameters": ...}, in a transaction of
// the server. https://neo4j.com/docs/query-api/current/
//
// User, password and token are only in the header Authorization: no error contains them, nor a text
// of the server, which can quote data.

#include <chrono>
#include <memory>
#include <string>

#include "agents/research/graph/cypher.h"
#include "belay/http.h"

namespace belay::research {

struct Neo4jOptions {
  std::string url;  // "https://graph.example.com:7473", without user, password, path and query
  std::string database = "neo4j";
  std::string user = {};  // empty: no login, unless `token` is set
  std::string password = {};
  std::string token = {};  // sent as "Bearer ..."; excludes `user`
  // Permits a login over http:// to another machine.
  bool permits_plain_text = false;
  std::chrono::milliseconds timeout{15'000};  // of one request
};

// Fails with `invalid` if a member cannot be used.
Result<Done> check_neo4j(const Neo4jOptions& options);

// Returns the scheme, the host and the database, for display: "https://graph.example.com:7473,
// neo4j".
std::string neo4j_place(const Neo4jOptions& options);

HttpCall neo4j_call(const Neo4jOptions& options, const CypherRequest& request);

// Returns Done if the server has committed the statement. Otherwise an error:
//   unavailable  another attempt can succeed: status 408, 429 or 5xx, or only codes of
//                Neo.TransientError.*; with the time of the header Retry-After, at most an hour
//   forbidden    status 401 or 403: the login or its permissions
//   not_found    status 404: the database, or a server without this API
//   invalid      any other response
// The message names the place, the status and the first code of the server.
Result<Done> neo4j_verdict(const Neo4jOptions& options, const HttpReply& reply);

// Sends the request once. Fails as neo4j_verdict() and as HttpAccess::send().
Task<Result<Done>> send_to_neo4j(std::shared_ptr<const Neo4jOptions> options, CypherRequest request,
                                 HttpAccess& http);

// RFC 4648, with padding.
std::string base64_text(std::string_view bytes);

}  // namespace belay::research
