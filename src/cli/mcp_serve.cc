// `belay mcp serve`: the agents as tools of MCP, over standard input and output.

#include <unistd.h>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/input_lines.h"
#include "cli/output_lines.h"
#include "cli/worker.h"
#include "server/mcp_endpoint.h"

namespace belay::cli {
namespace {

constexpr const char* kMcpServeHelp =
    R"(For a client that starts its MCP servers as programs. Each line of the input is a message and
each line of the output a response; everything else is written to stderr. The runs execute in this
process, and so do queued and orphaned runs of the store. At the end of the input and at SIGTERM,
runs are released to the store, as by {p} worker. With --server the runs are on that server.

Examples:
  {p} mcp serve
  {p} mcp serve --store sqlite:mail.db
)";

constexpr std::size_t kMessageBytesMax = 8u << 20;
constexpr std::size_t kCallsMax = 100;
constexpr std::size_t kRefusalsMax = 1'000;  // lines that the client has not read
constexpr std::chrono::milliseconds kAnswersAfterEnd{10'000};
constexpr std::chrono::milliseconds kLookForAnswers{20};

server::ApiContext api_context(CommandContext& world) {
  server::ApiOptions options;
  options.version = BELAY_VERSION;
  options.user = world.settings.user;
  options.extras = world.program.presentation.approval_document;
  server::ApiParts parts{world.service, world.executor, world.clock, world.random};
  return {parts, std::move(options), server::Waiting(world.executor)};
}

server::McpOptions one_client() {
  server::McpOptions options;
  options.has_one_client = true;
  return options;
}

// The connection of one client. The client can be slow, or can have stopped reading.
class McpConnection {
 public:
  explicit McpConnection(CommandContext& world)
      : world_(world),
        api_(api_context(world)),
        endpoint_(api_, one_client()),
        output_(world.executor, STDOUT_FILENO),
        calls_(world.executor) {}

  void take(std::string line) {
    auto document = parse_json(line);
    if (!document.ok()) {
      return refuse(server::mcp_malformed(server::McpFault::malformed, document.error().message));
    }
    server::McpMessage message;
    auto fault = server::read_mcp_message(*std::move(document), {}, message);
    if (fault) return refuse(*std::move(fault));
    std::string id = to_json(message.id);
    bool cancels = message.is_notification && message.method == "notifications/cancelled";
    if (cancels && end_subscription(to_json(message.params["requestId"]))) return;
    if (message.is_notification && !cancels) return;
    if (in_progress_ >= kCallsMax && !cancels) {
      return refuse(server::mcp_fault(message, server::McpFault::refused,
                                      "Too many requests are in progress."));
    }
    if (!message.is_notification && subscriptions_->contains(id)) {
      return refuse(server::mcp_fault(message, server::McpFault::invalid_request,
                                      "The id is that of an open subscription."));
    }
    ++in_progress_;
    bool subscribes = message.method == "subscriptions/listen";
    auto task = answer(std::move(message), subscribes ? std::move(id) : std::string());
    calls_.start<Done>(std::move(task), [this](Done) { --in_progress_; });
  }

  void refuse_long_line() {
    refuse(server::mcp_malformed(server::McpFault::invalid_request,
                                 "The message is longer than 8 MiB."));
  }

  // Waits for the responses to the requests that were read, for a limited time.
  Task<Done> answer_all() {
    auto left = kAnswersAfterEnd;
    while ((in_progress_ > 0 || output_.pending() > 0) && left.count() > 0) {
      co_await sleep_for(kLookForAnswers);
      left -= kLookForAnswers;
    }
    co_return Done{};
  }

 private:
  using Subscriptions = std::map<std::string, Spawned>;

  // `subscription`: the id of a request for a subscription, which is not in progress any more when
  // it is open.
  Task<Done> answer(server::McpMessage message, std::string subscription) {
    server::Call call{{world_.service, world_.who, {}, {}, Value()}, {}, nullptr};
    server::McpReply reply = co_await endpoint_.answer(std::move(call), std::move(message));
    if (reply.document) co_await write(*reply.document);
    if (!reply.stream) co_return Done{};
    auto task = write_all(std::move(reply.stream));
    if (subscription.empty()) co_return co_await task;
    std::weak_ptr<Subscriptions> all = subscriptions_;
    std::function<void(Done)> on_end = [&executor = world_.executor, all, subscription](Done) {
      // Posted: erasing destroys the coroutine, and its code is still running here.
      executor.post([all, subscription] {
        if (auto held = all.lock()) held->erase(subscription);
      });
    };
    Spawned& open = (*subscriptions_)[subscription];
    open = spawn<Done>(world_.executor, std::move(task), std::move(on_end));
    co_return Done{};
  }

  // The next message is created when the one before it has been written.
  Task<Done> write_all(std::unique_ptr<server::McpStream> stream) {
    bool has_reader = true;
    while (has_reader) {
      auto message = co_await stream->next();
      if (!message) break;
      has_reader = co_await write(*message);
    }
    co_return Done{};
  }

  Task<bool> write(const Value& message) {
    std::string line = with_escaped_directions(to_json(message));
    co_return co_await output_.write(std::move(line));
  }

  // Refuses a message. A client that sends such messages without reading the refusals receives only
  // the first ones.
  void refuse(server::McpReply reply) {
    if (!reply.document || output_.pending() >= kRefusalsMax) return;
    std::string line = with_escaped_directions(to_json(*reply.document));
    calls_.start<bool>(output_.write(std::move(line)));
  }

  // Returns false if no subscription has the id.
  bool end_subscription(const std::string& id) { return subscriptions_->erase(id) > 0; }

  CommandContext& world_;
  server::ApiContext api_;
  server::McpEndpoint endpoint_;
  OutputLines output_;
  std::size_t in_progress_ = 0;
  std::shared_ptr<Subscriptions> subscriptions_ = std::make_shared<Subscriptions>();
  BackgroundOperations calls_;
};

class McpServeCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.option("--max-runs", work_.runs_max, "Maximum concurrent runs of the queues")
        .range(1, 10'000)
        .shows_default();
    declare_drain_timeout(words, work_);
    declare_retention(words, work_);
  }
  Result<Done> validate(const CommandValidation&) override { return complete_work(work_); }
  const Work* work() const override { return &work_; }

  Task<CommandResult> run(CommandContext& world) override {
    if (world.local) BELAY_CO_CHECK(register_receivers(world));
    Shutdown shutdown(world, work_.drain_timeout);
    McpConnection connection(world);
    Completion<Done> ended;
    if (world.local) world.local->when_stopped = [&shutdown] { shutdown.take_signal(); };
    InputHandlers handlers;
    handlers.on_line = [&connection](std::string line) { connection.take(std::move(line)); };
    handlers.on_long_line = [&connection] { connection.refuse_long_line(); };
    handlers.on_end = [ended] { ended.complete(Done{}); };
    BELAY_CO_TRY(
        std::unique_ptr<InputLines> lines,
        InputLines::open(world.executor, STDIN_FILENO, kMessageBytesMax, std::move(handlers)));
    world.progress.name_threads();
    if (!world.local) {
      co_await ended;
      co_await connection.answer_all();
      co_return ExitCode::done;
    }
    Spawned ending;
    auto task = drain_at_end(ended, connection, world);
    std::function<void(Done)> nothing = [](Done) {};
    ending = spawn<Done>(world.executor, std::move(task), std::move(nothing));
    auto count = co_await work_until_drained(world, work_);
    if (!count.ok()) co_return std::move(count).error();
    co_return ExitCode::done;
  }

 private:
  static Task<Done> drain_at_end(Completion<Done> ended, McpConnection& connection,
                                 CommandContext& world) {
    co_await ended;
    co_await connection.answer_all();
    // As a signal does: the runs in progress continue in another process.
    world.local->when_stopped();
    co_return Done{};
  }

  Work work_;
};

}  // namespace

CommandSpec builtin::mcp_serve_command(const Program&) {
  return {.path = {"mcp", "serve"},
          .line = "Serve the agents as tools over stdio",
          .end = kMcpServeHelp,
          .traits = {.creates_store = true, .is_service = true},
          .make = make_command<McpServeCommand>};
}

}  // namespace belay::cli
