#pragma once
// cli/served_routes.h - the routes of `serve` that the server itself does not have: those of
// modules and of the protocols of other clients. `api` describes the same routes.
//
// Threading: on the loop's thread.

#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/settings.h"
#include "server/api.h"

namespace belay::cli {

struct ServedOptions {
  bool has_tls = false;  // the scheme of addresses in documents
};

// The program and the settings must outlive the routes.
server::Api::OwnRoutes served_routes(const Program& program, const Settings& settings,
                                     ServedOptions options);

// The types of the program that the description of these routes contains.
server::ProgramTypes types_of(const Program& program, const Definitions& graphs);

// The collections of the records that these routes save.
std::vector<std::string> served_collections();

}  // namespace belay::cli
