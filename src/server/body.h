#pragma once
// server/body.h - checks a JSON body against the schema of its route (belay/route.h).

#include "server/route.h"

namespace belay::server {

// Fails with `invalid`, naming the member, if a member is missing or unknown.
Result<Done> check_body(const Value& body, const Value& schema);

// True for the Content-Type of JSON.
bool is_json_type(std::string_view type);

}  // namespace belay::server
