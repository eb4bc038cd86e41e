// `belay api`: describes the API of the server, without a server.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/served_routes.h"
#include "server/module_routes.h"
#include "server/reference.h"
#include "server/routes.h"

namespace belay::cli {
namespace {

constexpr const char* kApiHelp =
    R"(Prints the description of the API of {p} serve without a server, for generators of clients.

Examples:
  {p} api > openapi.json
  {p} api --markdown
)";

class ApiCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.flag("--markdown", as_markdown_, "As Markdown");
  }

  Task<CommandResult> run(CommandContext& world) override {
    server::ApiParts parts{world.service, world.executor, world.clock, world.random};
    server::ApiOptions options;
    options.version = BELAY_VERSION;
    options.schemas = world.program.presentation.schemas;
    options.types = types_of(world.program, world.graphs);
    server::Api api(parts, options, served_routes(world.program, world.settings, {}));
    BELAY_CO_CHECK(server::check_routes(api.routes()));
    if (as_markdown_) {
      world.output.text(server::reference_text(api.routes(), options));
    } else {
      world.output.text(to_pretty_json(api.description()) + "\n");
    }
    co_return ExitCode::done;
  }

 private:
  bool as_markdown_ = false;
};

}  // namespace

CommandSpec builtin::api_command(const Program&) {
  return {.path = {"api"},
          .line = "Describe the HTTP API (OpenAPI 3.1)",
          .end = kApiHelp,
          .traits = {.uses_store = false},
          .make = make_command<ApiCommand>};
}

}  // namespace belay::cli
