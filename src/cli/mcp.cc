// `belay mcp`: lists the tools of an MCP server, compares them with their pins, and calls one. It
// opens no store.

#include "belay/mcp.h"

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "cli/command_list.h"
#include "cli/key_file.h"
#include "cli/process_context.h"
#include "cli/run_until_signal.h"
#include "net/egress.h"

namespace belay::cli {
namespace {

constexpr const char* kMcpHelp =
    R"(The server is a program, which is started without a shell, or a URL. Its texts are printed
unchanged, except for control characters. Do not trust them.

Examples:
  {p} mcp list --program npx --argument=-y --argument=@modelcontextprotocol/server-everything
  {p} mcp check --name docs --url https://mcp.example.com/mcp --pins mcp-pins.json
  {p} mcp try echo '{"message":"hello"}' --url http://127.0.0.1:3001/mcp
  {p} mcp try book '{"room":7}' --input '{"confirmed":true}' --url http://127.0.0.1:3001/mcp
)";

// The server that the command line names.
struct NamedServer {
  std::string name = "server";
  std::optional<std::string> program;
  std::vector<std::string> program_arguments;
  std::vector<std::string> variables;
  std::optional<std::string> url;
  std::optional<std::string> token_file;

  void declare(CommandWords& words) {
    words.option("--name", name, "Name of the server, the beginning of its tools' names")
        .shows_default();
    CommandWord started =
        words.option("--program", program, "Program that is the server, over stdio");
    words.option("--argument", program_arguments,
                 "Argument of the program; repeat the option for each");
    words.option("--env", variables, "NAME=VALUE for the program, which has only PATH and HOME");
    words.option("--url", url, "URL of the server, over streamable HTTP").excludes(started);
    words.option("--token-file", token_file, "File with the bearer token for --url");
  }

  // Opens the server with these options, which are not about its place.
  Result<std::shared_ptr<mcp::Server>> open(mcp::ServerOptions options) const;
};

Result<Done> add_variables(const std::vector<std::string>& variables,
                           std::map<std::string, std::string>& environment) {
  for (const std::string& variable : variables) {
    std::size_t equals = variable.find('=');
    if (equals == 0 || equals == variable.npos) {
      return error(ErrorCode::invalid,
                   "--env " + in_quotes(variable) + " is not of the form NAME=VALUE. Correct it.");
    }
    environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  return Done{};
}

// The person who starts the command has named the host, which may therefore be on any network; no
// other host is permitted, and no redirect.
Result<std::shared_ptr<HttpAccess>> access_to(const std::string& url,
                                              std::chrono::milliseconds timeout) {
  BELAY_TRY(net::Target target, net::parse_target(url));
  EgressPolicy policy;
  policy.allowed_ports = {target.port};
  policy.allowed_hosts = {target.host};
  policy.allowed_networks = {"0.0.0.0/0", "::/0"};
  policy.timeout = timeout;
  return open_http(std::move(policy));
}

Result<std::shared_ptr<mcp::Server>> NamedServer::open(mcp::ServerOptions options) const {
  if (!program && !url) {
    return error(ErrorCode::invalid, "No server is named. Add --program PROGRAM or --url URL.");
  }
  options.name = name;
  if (program) {
    options.command = {*program};
    options.command.insert(options.command.end(), program_arguments.begin(),
                           program_arguments.end());
    BELAY_CHECK(add_variables(variables, options.environment));
    if (token_file) {
      return error(ErrorCode::invalid, "--token-file requires --url. Use --env for a program.");
    }
    return mcp::open_server(std::move(options));
  }
  if (!program_arguments.empty() || !variables.empty()) {
    return error(ErrorCode::invalid, "--argument and --env require --program. Omit them.");
  }
  options.url = *url;
  BELAY_TRY(options.http, access_to(*url, options.call_timeout_max));
  if (token_file) {
    BELAY_TRY(std::string text, read_key_file(*token_file, "--token-file"));
    options.headers.push_back({"Authorization", "Bearer " + std::string(trimmed(text))});
  }
  return mcp::open_server(std::move(options));
}

// A command about one server.
class McpCommand : public ProcessCommand {
 public:
  void declare(CommandWords& words) override { server_.declare(words); }

  CommandResult run_in_process(const ProcessContext& context) final {
    BELAY_TRY(mcp::ServerOptions options, call_options(context.output));
    BELAY_TRY(std::shared_ptr<mcp::Server> server, server_.open(std::move(options)));
    int signal = 0;
    auto result = run_until_signal(execute(*server, context.output), signal);
    if (!result) return static_cast<ExitCode>(128 + signal);
    return *std::move(result);
  }

 private:
  virtual Task<CommandResult> execute(mcp::Server& server, Output& output) = 0;
  virtual Result<mcp::ServerOptions> call_options(Output&) { return mcp::ServerOptions(); }

  NamedServer server_;
};

class McpListCommand final : public McpCommand {
  Task<CommandResult> execute(mcp::Server& server, Output& output) override {
    BELAY_CO_TRY(mcp::ServerInfo info, co_await server.info());
    BELAY_CO_TRY(mcp::ToolList list, co_await server.list());
    output.line(one_line(info.name + " " + info.version) + ", protocol " + info.protocol);
    Value::Array tools;
    for (const mcp::ToolInfo& tool : list.tools) {
      std::string effect(name_of(tool.effect()));
      output.line("  " + padded(one_line(tool.name), 28) + "  " + padded(effect, 7) + "  " +
                  shortened(one_line(tool.description), 72, output.glyph("\u2026", "...")));
      tools.push_back(Value::object({{"name", tool.name},
                                     {"description", tool.description},
                                     {"effect", effect},
                                     {"inputSchema", tool.input_schema}}));
    }
    Value::Array refused;
    for (const mcp::RefusedTool& tool : list.refused) {
      output.line("  " + padded(one_line(tool.name), 28) + "  refused: " + one_line(tool.reason));
      refused.push_back(Value::object({{"name", tool.name}, {"reason", tool.reason}}));
    }
    Value::Object about{
        {"name", info.name}, {"protocol", info.protocol}, {"version", info.version}};
    output.document(Value::object({{"server", Value(std::move(about))},
                                   {"tools", std::move(tools)},
                                   {"refused", std::move(refused)}}));
    co_return ExitCode::done;
  }
};

class McpCheckCommand final : public McpCommand {
 public:
  void declare(CommandWords& words) override {
    McpCommand::declare(words);
    words.option("--pins", pins_file_, "File of the accepted tools").required();
    words.flag("--accept", accepts_, "Accept the tools as they are now");
  }

 private:
  Task<CommandResult> execute(mcp::Server& server, Output& output) override {
    BELAY_CO_TRY(mcp::Pins pins, mcp::read_pins(pins_file_));
    BELAY_CO_TRY(mcp::ToolList list, co_await server.list());
    std::vector<mcp::PinDifference> differences =
        mcp::check_pins(pins, server.options(), list.tools);
    Value::Array documents;
    for (const mcp::PinDifference& difference : differences) {
      output.line(one_line(difference.text()));
      Value::Array parts(difference.parts.begin(), difference.parts.end());
      documents.push_back(Value::object({{"change", std::string(name_of(difference.change))},
                                         {"tool", difference.tool},
                                         {"formerName", difference.former_name},
                                         {"parts", std::move(parts)}}));
    }
    if (accepts_) {
      mcp::accept_pins(pins, server.options(), list.tools);
      BELAY_CO_CHECK(mcp::write_pins(pins_file_, pins));
      output.line("Accepted " + std::to_string(list.tools.size()) + " tools in " + pins_file_);
    } else if (differences.empty()) {
      output.line("All " + std::to_string(list.tools.size()) + " tools equal their pins.");
    }
    output.document(Value::object({{"accepted", accepts_}, {"differences", std::move(documents)}}));
    co_return accepts_ || differences.empty() ? ExitCode::done : ExitCode::failed;
  }

  std::string pins_file_;
  bool accepts_ = false;
};

std::string progress_text(const mcp::Progress& progress) {
  std::string text = to_json(Value(progress.progress));
  if (progress.total) text += " of " + to_json(Value(*progress.total));
  return progress.message.empty() ? text : text + ": " + one_line(progress.message);
}

// `content`: null declines the form.
Task<Result<mcp::InputResponse>> respond(Output& output, Value content, std::string question) {
  output.progress("The tool asks: " + question);
  mcp::InputResponse response;
  response.action = content.is_null() ? mcp::InputAction::decline : mcp::InputAction::accept;
  response.content = std::move(content);
  co_return response;
}

class McpTryCommand final : public McpCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("TOOL", tool_, "The tool, as the server names it").required();
    words.argument("ARGUMENTS", arguments_, "Its arguments as a JSON object; {} if omitted");
    McpCommand::declare(words);
    words.option("--input", input_,
                 "JSON object that fills in each form of the tool; without it, forms are declined");
  }

 private:
  Result<mcp::ServerOptions> call_options(Output& output) override {
    Value content;
    if (input_) {
      BELAY_TRY(content, parse_json(*input_));
      if (!content.as_object()) {
        return error(ErrorCode::invalid, "--input is not a JSON object. Correct it.");
      }
    }
    mcp::ServerOptions options;
    options.on_progress = [&output](const mcp::Progress& progress) {
      output.progress(progress_text(progress));
    };
    options.on_input = [&output, content](const mcp::InputRequest& request) {
      return respond(output, content, one_line(request.message));
    };
    return options;
  }

  Task<CommandResult> execute(mcp::Server& server, Output& output) override {
    Value arguments{Value::Object()};
    if (arguments_) {
      BELAY_CO_TRY(arguments, parse_json(*arguments_));
    }
    if (!arguments.as_object()) {
      co_return error(ErrorCode::invalid, "ARGUMENTS is not a JSON object. Correct it.");
    }
    BELAY_CO_TRY(mcp::CallResult result, co_await server.call(tool_, std::move(arguments)));
    for (std::size_t begin = 0; begin <= result.text.size();) {
      std::size_t end = std::min(result.text.find('\n', begin), result.text.size());
      output.line(one_line(std::string_view(result.text).substr(begin, end - begin)));
      begin = end + 1;
    }
    output.document(Value::object(
        {{"text", result.text}, {"structured", result.structured}, {"isError", result.is_error}}));
    co_return result.is_error ? ExitCode::failed : ExitCode::done;
  }

  std::string tool_;
  std::optional<std::string> arguments_;
  std::optional<std::string> input_;
};

}  // namespace

CommandSpec builtin::mcp_command(const Program&) {
  return {.path = {"mcp"},
          .line = "Use the tools of MCP servers, or serve agents as tools",
          .end = kMcpHelp};
}

CommandSpec builtin::mcp_list_command(const Program&) {
  return {.path = {"mcp", "list"},
          .line = "List the tools of a server",
          .end = kMcpHelp,
          .make = make_command<McpListCommand>};
}

CommandSpec builtin::mcp_check_command(const Program&) {
  return {.path = {"mcp", "check"},
          .line = "Compare the tools of a server with their pins",
          .end = kMcpHelp,
          .make = make_command<McpCheckCommand>};
}

CommandSpec builtin::mcp_try_command(const Program&) {
  return {.path = {"mcp", "try"},
          .line = "Call one tool of a server",
          .end = kMcpHelp,
          .make = make_command<McpTryCommand>};
}

}  // namespace belay::cli
