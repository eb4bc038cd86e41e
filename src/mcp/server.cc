// mcp::Server: opens a session when a request needs one, and opens another when it has ended.

#include <algorithm>
#include <mutex>

#include "agent/tool_name.h"
#include "base/in_quotes.h"
#include "mcp/call_flow.h"
#include "mcp/http_connection.h"
#include "mcp/parameter_headers.h"
#include "mcp/pins.h"
#include "mcp/session.h"
#include "mcp/stdio_connection.h"
#include "mcp/tool_list.h"

namespace belay::mcp {
namespace {

constexpr std::size_t server_name_max = 30;
constexpr std::chrono::minutes list_age_max{5};
// A request that a server refused without handling it is sent again in a new session, once.
constexpr int attempts_max = 2;

// The tools of a session, and when they were listed.
struct KnownTools {
  std::shared_ptr<Connection> connection{};
  std::uint64_t changes = 0;
  std::optional<Instant> at{};
  std::shared_ptr<const std::vector<ToolInfo>> tools = nullptr;

  // REQUIRES: tools.
  const ToolInfo* find(std::string_view name) const {
    auto found = std::find_if(tools->begin(), tools->end(),
                              [&](const ToolInfo& tool) { return tool.name == name; });
    return found == tools->end() ? nullptr : &*found;
  }
};

class ServerImpl final : public Server, public std::enable_shared_from_this<ServerImpl> {
 public:
  explicit ServerImpl(ServerOptions options) : options_(std::move(options)) {}

  const ServerOptions& options() const override { return options_; }
  Task<Result<ServerInfo>> info() override;
  Task<Result<ToolList>> list() override;
  Task<Result<CallResult>> call(std::string tool, Value arguments) override;
  Task<Result<CallResult>> call_as_known(ToolInfo tool, Value arguments, Instant now,
                                         InputFunction on_input) override;

 private:
  using Opened = Completion<Result<Session>>;
  class Opening;

  Task<Result<Session>> session();
  Task<Result<Session>> open();
  Result<std::shared_ptr<Connection>> connect() const;
  Task<Result<ToolList>> list_in(Session session, std::optional<Instant> now);
  Task<Result<KnownTools>> known_in(Session session, std::optional<Instant> now);
  CallSetting setting_of(std::string tool, InputFunction on_input);
  Task<Result<CallResult>> call_in(Session session, CallSetting setting, Value schema,
                                   Value arguments, bool* headers_differ);
  std::optional<KnownTools> fresh_tools(const Session& session, std::optional<Instant> now);

  const ServerOptions options_;
  std::mutex mutex_;
  // Protected by mutex_.
  std::optional<Session> session_;
  bool is_opening_ = false;
  std::vector<Opened> waiting_;
  bool is_legacy_ = false;  // the last session was one of the older era
  KnownTools known_;
};

// Passes the session to all coroutines that wait for it, also if the one that opens it is
// destroyed.
class ServerImpl::Opening {
 public:
  explicit Opening(ServerImpl& server) : server_(server) {}
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() {
    // The former session ends outside of the lock: its program might need some time.
    std::optional<Session> former;
    std::vector<Opened> waiting;
    {
      std::lock_guard lock(server_.mutex_);
      server_.is_opening_ = false;
      former = std::move(server_.session_);
      server_.session_.reset();
      if (result_.ok()) {
        server_.session_ = *result_;
        server_.is_legacy_ = !result_->dialect.is_modern;
      }
      waiting = std::exchange(server_.waiting_, {});
    }
    for (const Opened& each : waiting) each.complete(result_);
  }

  void set(Result<Session> result) { result_ = std::move(result); }

 private:
  ServerImpl& server_;
  Result<Session> result_ =
      error(ErrorCode::unavailable, "The start of an MCP server was stopped. Try again.");
};

Error as_unavailable(Error fault) {
  if (fault.code == ErrorCode::uncertain) fault.code = ErrorCode::unavailable;
  return fault;
}

bool is_lost(const Error& fault, const Session& session) {
  return fault.code == ErrorCode::unavailable && !session.connection->is_usable();
}

Result<std::shared_ptr<Connection>> ServerImpl::connect() const {
  if (options_.command.empty()) {
    HttpOptions http{options_.name,
                     options_.url,
                     options_.headers,
                     options_.http,
                     options_.message_bytes_max,
                     options_.stop_grace};
    return std::shared_ptr<Connection>(std::make_shared<HttpConnection>(std::move(http)));
  }
  StdioOptions stdio{options_.name, options_.command, options_.environment,
                     options_.message_bytes_max, options_.stop_grace};
  BELAY_TRY(auto connection, StdioConnection::open(std::move(stdio)));
  return std::shared_ptr<Connection>(std::move(connection));
}

Task<Result<Session>> ServerImpl::open() {
  bool is_legacy = false;
  {
    std::lock_guard lock(mutex_);
    is_legacy = is_legacy_;
  }
  BELAY_CO_TRY(auto connection, connect());
  auto session = co_await begin_session(connection, options_, is_legacy);
  if (session.ok()) co_return session;
  // Some programs of the older era end at a question that they do not know; and a server that was
  // replaced by a newer one no longer has the handshake.
  bool ended = !connection->is_usable() && !options_.command.empty();
  bool was_refused = session.error().code == ErrorCode::invalid;
  if (is_legacy ? was_refused : ended) {
    BELAY_CO_TRY(connection, connect());
    session = co_await begin_session(connection, options_, !is_legacy);
  }
  if (!session.ok()) co_return as_unavailable(std::move(session).error());
  co_return session;
}

Task<Result<Session>> ServerImpl::session() {
  std::optional<Opened> other;
  {
    std::lock_guard lock(mutex_);
    if (session_ && session_->connection->is_usable()) co_return *session_;
    if (is_opening_) {
      other.emplace();
      waiting_.push_back(*other);
    }
    is_opening_ = true;
  }
  if (other) {
    auto shared = co_await *other;
    co_return shared;
  }
  Opening opening(*this);
  auto opened = co_await open();
  opening.set(opened);
  co_return opened;
}

Task<Result<ServerInfo>> ServerImpl::info() {
  auto self = shared_from_this();
  BELAY_CO_TRY(Session session, co_await this->session());
  co_return session.info;
}

Task<Result<ToolList>> ServerImpl::list() {
  auto self = shared_from_this();
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(Session session, co_await this->session());
    auto list = co_await list_in(session, std::nullopt);
    if (list.ok() || attempt == attempts_max || !is_lost(list.error(), session)) co_return list;
  }
}

Task<Result<ToolList>> ServerImpl::list_in(Session session, std::optional<Instant> now) {
  bool checks_marks = session.dialect.is_modern && options_.command.empty();
  std::uint64_t changes = session.connection->changes();
  ToolList list;
  std::optional<std::string> cursor;
  for (std::size_t page = 0;; ++page) {
    Request request;
    request.method = "tools/list";
    request.timeout = options_.start_timeout;
    if (cursor) request.params = Value::object({{"cursor", *cursor}});
    auto result = co_await ask(session, std::move(request));
    if (!result.ok()) co_return as_unavailable(std::move(result).error());
    BELAY_CO_TRY(cursor, add_page(*result, checks_marks, options_.tools_max, list));
    if (!cursor) break;
    if (page + 1 == cursors_max) {
      co_return error(ErrorCode::exhausted, "The list of tools of the MCP server " +
                                                in_quotes(options_.name) + " does not end.");
    }
  }
  auto tools = std::make_shared<const std::vector<ToolInfo>>(list.tools);
  std::lock_guard lock(mutex_);
  known_ = KnownTools{session.connection, changes, now, std::move(tools)};
  co_return list;
}

std::optional<KnownTools> ServerImpl::fresh_tools(const Session& session,
                                                  std::optional<Instant> now) {
  std::lock_guard lock(mutex_);
  if (known_.connection != session.connection) return std::nullopt;
  if (known_.changes != session.connection->changes()) return std::nullopt;
  // Listed by a program, outside of a run: its age counts from the first call.
  if (!known_.at) known_.at = now;
  if (now && (*now < *known_.at || *now - *known_.at > list_age_max)) return std::nullopt;
  return known_;
}

Task<Result<KnownTools>> ServerImpl::known_in(Session session, std::optional<Instant> now) {
  auto fresh = fresh_tools(session, now);
  if (fresh) co_return *std::move(fresh);
  BELAY_CO_TRY(ToolList list, co_await list_in(session, now));
  KnownTools known;
  known.tools = std::make_shared<const std::vector<ToolInfo>>(std::move(list.tools));
  co_return known;
}

CallSetting ServerImpl::setting_of(std::string tool, InputFunction on_input) {
  if (!on_input) on_input = options_.on_input;
  return {options_, std::move(tool), std::move(on_input), [this] { return session(); }};
}

Task<Result<CallResult>> ServerImpl::call_in(Session session, CallSetting setting, Value schema,
                                             Value arguments, bool* headers_differ) {
  Request request;
  request.method = "tools/call";
  request.headers = parameter_headers(schema, arguments);
  request.params = Value::object({{"arguments", std::move(arguments)}, {"name", setting.tool}});
  auto called = co_await perform_call(std::move(setting), std::move(session), std::move(request),
                                      headers_differ);
  co_return called;
}

Task<Result<CallResult>> ServerImpl::call(std::string tool, Value arguments) {
  auto self = shared_from_this();
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(Session session, co_await this->session());
    Value schema;
    // Only HTTP repeats arguments in headers.
    if (options_.command.empty() && session.dialect.is_modern) {
      BELAY_CO_TRY(KnownTools known, co_await known_in(session, std::nullopt));
      if (const ToolInfo* info = known.find(tool)) schema = info->input_schema;
    }
    bool headers_differ = false;
    CallSetting setting = setting_of(tool, nullptr);
    auto called = co_await call_in(session, std::move(setting), std::move(schema), arguments,
                                   &headers_differ);
    if (called.ok() || attempt == attempts_max) co_return called;
    if (headers_differ) {
      std::lock_guard lock(mutex_);
      known_ = KnownTools();
    } else if (!is_lost(called.error(), session)) {
      co_return called;
    }
  }
}

Task<Result<CallResult>> ServerImpl::call_as_known(ToolInfo tool, Value arguments, Instant now,
                                                   InputFunction on_input) {
  auto self = shared_from_this();
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(Session session, co_await this->session());
    auto known = co_await known_in(session, now);
    if (!known.ok()) {
      if (attempt == attempts_max || !is_lost(known.error(), session)) {
        co_return std::move(known).error();
      }
      continue;
    }
    const ToolInfo* current = known->find(tool.name);
    if (!current || pin_of(*current) != pin_of(tool)) {
      co_return error(ErrorCode::forbidden, "The tool " + in_quotes(tool.name) +
                                                " of the MCP server " + in_quotes(options_.name) +
                                                (current ? " has changed" : " was removed") +
                                                " since it was accepted. The call was not made.");
    }
    CallSetting setting = setting_of(tool.name, on_input);
    auto called =
        co_await call_in(session, std::move(setting), tool.input_schema, arguments, nullptr);
    bool ends = called.ok() || attempt == attempts_max || !is_lost(called.error(), session);
    if (ends) co_return called;
  }
}

bool is_header_name(std::string_view name) {
  return !name.empty() && !std::any_of(name.begin(), name.end(),
                                       [](char c) { return c <= ' ' || c > '~' || c == ':'; });
}

// The longest time of one exchange: a call with progress, during which a person is asked.
std::chrono::milliseconds exchange_time_max(const ServerOptions& options) {
  auto most = std::max({options.call_timeout, options.call_timeout_max, options.start_timeout});
  return options.on_input ? most + options.inputs_max * options.input_timeout : most;
}

Result<Done> check(const ServerOptions& options) {
  if (!agents::is_sendable(options.name) || options.name.size() > server_name_max) {
    return error(ErrorCode::invalid, "An MCP server is named " + in_quotes(options.name) +
                                         ". Use 1 to 30 letters, digits, _ and -.");
  }
  std::string which = "The MCP server " + in_quotes(options.name);
  if (options.command.empty() == options.url.empty()) {
    return error(ErrorCode::invalid, which + " needs either a command or a URL.");
  }
  if (!options.command.empty() && options.command[0].empty()) {
    return error(ErrorCode::invalid, which + " has a command without a program. Name one.");
  }
  for (const auto& [name, value] : options.environment) {
    if (!name.empty() && name.find('=') == name.npos) continue;
    return error(ErrorCode::invalid, which + " has an environment variable without a name.");
  }
  for (const HttpHeader& header : options.headers) {
    if (is_header_name(header.name)) continue;
    return error(ErrorCode::invalid, which + " has an HTTP header with a name that is not valid.");
  }
  return Done{};
}

}  // namespace

ToolEffect ToolInfo::effect() const {
  if (reads_only) return ToolEffect::reads;
  return is_idempotent ? ToolEffect::keyed : ToolEffect::unkeyed;
}

Result<std::shared_ptr<Server>> open_server(ServerOptions options) {
  BELAY_CHECK(check(options));
  if (!options.url.empty() && !options.http) {
    EgressPolicy policy;
    policy.timeout = exchange_time_max(options);
    policy.body_bytes_max = options.message_bytes_max;
    BELAY_TRY(options.http, open_http(std::move(policy)));
  }
  return std::shared_ptr<Server>(std::make_shared<ServerImpl>(std::move(options)));
}

}  // namespace belay::mcp
