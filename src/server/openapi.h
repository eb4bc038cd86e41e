#pragma once
// server/openapi.h - generates the OpenAPI 3.1 description of the API from its routes.
//
// https://spec.openapis.org/oas/v3.1.0

#include "server/api.h"

namespace belay::server {

Value describe(const std::vector<Route>& routes, const ApiOptions& options);

// Returns the reference to a schema of the description.
Value schema_reference(std::string_view name);
// Makes a member of a body one of a set of closed_names.h.
void refer_to_names(Value& body, std::string_view member, std::string_view names);

// Returns the JSON Schemas of responses, by the names that ResponseSpec::schema uses.
// `more`: those of modules.
Value answer_schemas(const std::map<std::string, Value>& more = {});

}  // namespace belay::server
