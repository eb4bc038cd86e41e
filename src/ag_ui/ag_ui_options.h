#pragma once
// ag_ui/ag_ui_options.h - the settings of the routes of AG-UI, and the routes.

#include <string>
#include <vector>

#include "conversation/conversation.h"
#include "server/routes.h"

namespace belay::ag_ui {

struct AgUiOptions {
  conversation::Conversations conversations = conversation::Conversations();
};

// POST /ag-ui/{agent}, and GET of the stream of one run. `world` must outlive the routes.
std::vector<server::Route> ag_ui_routes(server::ApiContext& world, AgUiOptions options);

// The collections of the records of this API, for `belay check`.
std::vector<std::string> collections();

}  // namespace belay::ag_ui
