#pragma once
// server/openapi.h - the description of the API, OpenAPI 3.1, made from its routes.
//
// https://spec.openapis.org/oas/v3.1.0

#include "server/api.h"

namespace belay::server {

Value describe(const std::vector<Route>& routes, const ApiOptions& options);

// The JSON Schemas of what is answered, by the names that Answer::schema uses.
Value answer_schemas();

}  // namespace belay::server
