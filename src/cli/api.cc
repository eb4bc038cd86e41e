// `belay api`: describes the API of the server, without a server.

#include "cli/commands.h"
#include "server/reference.h"
#include "server/routes.h"

namespace belay::cli {

Task<CommandResult> describe_api(CommandContext& world, DescribeApi wanted) {
  server::ApiParts parts{world.service, world.executor, world.clock, world.random};
  server::Api::OwnRoutes own;
  if (world.program.routes) {
    own = [&world](server::ApiContext& served) {
      return world.program.routes(served, world.settings);
    };
  }
  server::ApiOptions options;
  options.version = BELAY_VERSION;
  server::Api api(parts, std::move(options), own);
  if (wanted.as_markdown) {
    world.output.text(server::reference_text(api.routes()));
  } else {
    world.output.text(to_pretty_json(api.description()) + "\n");
  }
  co_return ExitCode::done;
}

}  // namespace belay::cli
