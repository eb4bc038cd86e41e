#include "mcp/stdio_connection.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/in_quotes.h"
#include "base/start_thread.h"
#include "base/trimmed.h"
#include "mcp/reply_wait.h"
#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

constexpr std::size_t read_bytes = 64 * 1024;
constexpr int reads_max = 256;  // before the thread writes again
constexpr std::size_t quoted_error_characters = 200;

bool is_transient(int fault) { return fault == EAGAIN || fault == EINTR; }

}  // namespace

// Ends a request together with its coroutine, also if that is destroyed while it waits.
struct StdioConnection::Pending {
  Pending(StdioConnection& to, std::int64_t request, bool cancels)
      : connection(to), id(request), is_cancelled(cancels) {}
  ~Pending() { connection.forget(id, is_cancelled); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  StdioConnection& connection;
  std::int64_t id;
  bool is_cancelled;
};

Result<std::shared_ptr<StdioConnection>> StdioConnection::open(StdioOptions options) {
  int waker = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (waker < 0) {
    return error(ErrorCode::unavailable, "A descriptor for the MCP server " +
                                             in_quotes(options.name) +
                                             " could not be opened. Close other files.");
  }
  tools::Descriptor owned(waker);
  BELAY_TRY(ChildProcess process, ChildProcess::start(options.command, options.environment));
  return std::make_shared<StdioConnection>(std::move(options), std::move(process),
                                           std::move(owned));
}

StdioConnection::StdioConnection(StdioOptions options, ChildProcess process,
                                 tools::Descriptor waker)
    : options_(std::move(options)), waker_(std::move(waker)), process_(std::move(process)) {
  thread_ = start_thread([this] { serve(); });
}

StdioConnection::~StdioConnection() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake();
  thread_.join();
}

Task<Result<Reply>> StdioConnection::send(Request request) {
  auto self = shared_from_this();
  Inbox inbox;
  BELAY_CO_TRY(std::int64_t id, begin(request, inbox));
  Pending pending(*this, id, !request.is_handshake);
  ReplyWait wait(options_.name, request);
  auto reply = co_await wait_for_reply(inbox, std::move(wait), *this);
  co_return reply;
}

Task<Result<Done>> StdioConnection::notify(std::string method, Value params) {
  std::lock_guard lock(mutex_);
  if (ended_) co_return *ended_;
  Outgoing outgoing{notification_text(method, params), 0};
  co_return push(std::move(outgoing));
}

bool StdioConnection::is_usable() {
  std::lock_guard lock(mutex_);
  return !ended_;
}

std::uint64_t StdioConnection::changes() {
  std::lock_guard lock(mutex_);
  return changes_;
}

void StdioConnection::use(Dialect dialect) {
  std::lock_guard lock(mutex_);
  is_modern_ = dialect.is_modern;
}

std::int64_t StdioConnection::push_request(Request request) {
  std::int64_t id = ++last_id_;
  // A failure has no consequence: the program has ended, or does not read.
  static_cast<void>(push({request_text(Value(id), request.method, request.params), 0}));
  return id;
}

void StdioConnection::post(Request request) {
  std::lock_guard lock(mutex_);
  if (!ended_) push_request(std::move(request));
}

void StdioConnection::answer(std::string text) {
  std::lock_guard lock(mutex_);
  if (!ended_) static_cast<void>(push({std::move(text), 0}));
}

// The older era announces changes without a request.
void StdioConnection::listen(Request request) {
  std::lock_guard lock(mutex_);
  if (!ended_ && is_modern_) listening_ = push_request(std::move(request));
}

Result<std::int64_t> StdioConnection::begin(const Request& request, const Inbox& inbox) {
  std::lock_guard lock(mutex_);
  if (ended_) return error(ErrorCode::unavailable, ended_->message);
  std::int64_t id = ++last_id_;
  Awaiting awaiting{inbox, request.functions.on_progress != nullptr,
                    request.functions.on_question != nullptr};
  Value params = awaiting.takes_progress ? with_progress_token(request.params, id) : request.params;
  BELAY_CHECK(push({request_text(Value(id), request.method, params), id}));
  pending_.emplace(id, std::move(awaiting));
  return id;
}

void StdioConnection::forget(std::int64_t request, bool cancels) {
  std::lock_guard lock(mutex_);
  if (pending_.erase(request) == 0 || !cancels || ended_) return;
  // A failure has no consequence: the server executes a request whose result is dropped.
  Value params = Value::object({{"reason", "not needed any more"}, {"requestId", request}});
  static_cast<void>(push({notification_text("notifications/cancelled", params), 0}));
}

Result<Done> StdioConnection::push(Outgoing outgoing) {
  outgoing.text += '\n';
  if (outgoing_bytes_ + outgoing.text.size() > outgoing_bytes_max) {
    return error(ErrorCode::unavailable, "The MCP server " + in_quotes(options_.name) +
                                             " does not read its requests. Try again later.");
  }
  outgoing_bytes_ += outgoing.text.size();
  outgoing_.push_back(std::move(outgoing));
  wake();
  return Done{};
}

void StdioConnection::wake() {
  std::uint64_t one = 1;
  // Fails only if the counter is at its maximum: the thread is then awake.
  static_cast<void>(::write(waker_.number(), &one, sizeof one) == sizeof one);
}

void StdioConnection::serve() {
  bool is_stopping = false;
  while (!is_stopping) {
    bool has_exited = wait_for_event();
    bool writes = write_some();
    read_errors();
    // Also after a failed write: the process might have replied before it ended.
    if (!read_output() || !writes || has_exited) break;
    std::lock_guard lock(mutex_);
    is_stopping = is_stopping_;
  }
  end();
}

// Returns whether the process has ended.
bool StdioConnection::wait_for_event() {
  bool has_output = false;
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return false;
    has_output = !outgoing_.empty();
  }
  // poll() ignores negative descriptors.
  std::array<pollfd, 5> events{{{waker_.number(), POLLIN, 0},
                                {process_.exit_descriptor(), POLLIN, 0},
                                {process_.output(), POLLIN, 0},
                                {process_.errors(), POLLIN, 0},
                                {has_output ? process_.input() : -1, POLLOUT, 0}}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  std::uint64_t count = 0;
  static_cast<void>(::read(waker_.number(), &count, sizeof count) == sizeof count);
  return events[1].revents != 0;
}

// Returns false if the process does not read any more.
bool StdioConnection::write_some() {
  while (true) {
    std::unique_lock lock(mutex_);
    if (outgoing_.empty()) return true;
    // References to elements of a deque stay valid while others are appended.
    const std::string& text = outgoing_.front().text;
    lock.unlock();
    ssize_t written = ::write(process_.input(), text.data() + sent_, text.size() - sent_);
    if (written < 0) return is_transient(errno);
    sent_ += static_cast<std::size_t>(written);
    if (sent_ < text.size()) continue;
    sent_ = 0;
    lock.lock();
    outgoing_bytes_ -= text.size();
    outgoing_.pop_front();
  }
}

// Reads until the pipe is empty. Returns false at its end, or if the server exceeded a limit.
bool StdioConnection::read_output() {
  std::array<char, read_bytes> bytes;
  for (int reads = 0; reads < reads_max; ++reads) {
    ssize_t count = ::read(process_.output(), bytes.data(), bytes.size());
    if (count < 0) return is_transient(errno);
    if (count == 0) return false;
    if (!take_bytes(std::string_view(bytes.data(), static_cast<std::size_t>(count)))) return false;
  }
  return true;
}

// Each of the following returns false if the server exceeded a limit.
bool StdioConnection::take_bytes(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    line_ += bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    std::string line = std::exchange(line_, {});
    if (!take_line(line)) return false;
  }
  line_ += bytes;
  return line_.size() <= options_.message_bytes_max ||
         fail(ErrorCode::exhausted, "sent a message of more than " +
                                        std::to_string(options_.message_bytes_max) + " bytes");
}

void StdioConnection::read_errors() {
  std::array<char, error_bytes_max> bytes;
  if (process_.errors() < 0) return;
  ssize_t count = ::read(process_.errors(), bytes.data(), bytes.size());
  if (count == 0 || (count < 0 && !is_transient(errno))) process_.close_errors();
  if (count <= 0) return;
  stderr_.append(bytes.data(), static_cast<std::size_t>(count));
  if (stderr_.size() > error_bytes_max) stderr_.erase(0, stderr_.size() - error_bytes_max);
}

bool StdioConnection::take_line(std::string_view line) {
  if (line.size() > options_.message_bytes_max) {
    return fail(ErrorCode::exhausted, "sent a message of more than " +
                                          std::to_string(options_.message_bytes_max) + " bytes");
  }
  line = trimmed(line);
  if (line.empty()) return true;
  auto message = parse_message(line);
  if (message.ok()) return take_message(*std::move(message));
  // Programs print greetings and warnings to their standard output, although they must not.
  if (++garbage_ <= garbage_lines_max) return true;
  return fail(ErrorCode::exhausted, "wrote more than " + std::to_string(garbage_lines_max) +
                                        " lines that are no messages");
}

bool StdioConnection::take_reply(Message& message) {
  if (message.kind != MessageKind::result && message.kind != MessageKind::fault) return false;
  auto id = message.id.as_int();
  if (id && *id == listening_ && listening_ != 0) {
    // Changes are not announced any more: the tools must be listed again.
    listening_ = 0;
    ++changes_;
    return true;
  }
  auto found = id ? pending_.find(*id) : pending_.end();
  if (found == pending_.end()) return false;
  Inbox inbox = found->second.inbox;
  pending_.erase(found);
  Reply reply;
  reply.message = std::move(message);
  inbox.put_reply(std::move(reply));
  return true;
}

bool StdioConnection::take_progress(const Message& message) {
  if (message.method != "notifications/progress") return false;
  auto token = message.params["progressToken"].as_int();
  auto found = token ? pending_.find(*token) : pending_.end();
  if (found == pending_.end() || !found->second.takes_progress) return false;
  found->second.inbox.put_progress(message.params);
  return true;
}

// A question does not name the request to which it belongs: the latest one is the most likely.
bool StdioConnection::take_question(Message& request) {
  for (auto each = pending_.rbegin(); each != pending_.rend(); ++each) {
    if (!each->second.takes_questions) continue;
    Question question{request.id, request.method, request.params};
    return each->second.inbox.put_question(std::move(question));
  }
  return false;
}

bool StdioConnection::take_message(Message message) {
  std::unique_lock lock(mutex_);
  if (take_reply(message)) {
    unrequested_ = progress_notes_ = 0;
    return true;
  }
  if (take_progress(message)) {
    return ++progress_notes_ <= progress_notes_max ||
           fail(ErrorCode::exhausted,
                "reported progress more than " + std::to_string(progress_notes_max) + " times");
  }
  if (message.method == "notifications/tools/list_changed") ++changes_;
  lock.unlock();
  if (++unrequested_ > unrequested_max) {
    return fail(ErrorCode::exhausted, "sent more than " + std::to_string(unrequested_max) +
                                          " messages that belong to no request");
  }
  return message.kind != MessageKind::request || answer_server(std::move(message));
}

bool StdioConnection::answer_server(Message request) {
  std::lock_guard lock(mutex_);
  if (request.method == elicitation_method && take_question(request)) return true;
  std::string text = request.method == "ping"
                         ? result_text(request.id, Value(Value::Object()))
                         : fault_text(request.id, method_not_found, "Method not found");
  return push({std::move(text), 0}).ok() ||
         fail(ErrorCode::exhausted, "sends requests and does not read the answers");
}

bool StdioConnection::fail(ErrorCode code, std::string fault) {
  fault_ = error(code, "The MCP server " + in_quotes(options_.name) + " " + std::move(fault) +
                           ". It was stopped.");
  return false;
}

void StdioConnection::end() {
  read_errors();
  std::string how = process_.finish(fault_ ? std::chrono::milliseconds(0) : options_.grace);
  Error reason =
      fault_ ? *fault_
             : error(ErrorCode::unavailable, "The MCP server " + in_quotes(options_.name) +
                                                 " ended (" + how + ")" + last_error() + ".");
  std::lock_guard lock(mutex_);
  ended_ = reason;
  // A request that was not written completely was not executed.
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    auto unsent = pending_.find(outgoing_[i].request);
    if (unsent == pending_.end()) continue;
    unsent->second.inbox.put_reply(error(ErrorCode::unavailable, reason.message));
    pending_.erase(unsent);
  }
  ErrorCode code = fault_ ? fault_->code : ErrorCode::uncertain;
  for (auto& [id, each] : pending_) each.inbox.put_reply(error(code, reason.message));
  pending_.clear();
}

std::string StdioConnection::last_error() const {
  std::string_view text = trimmed(stderr_);
  if (text.empty()) return "";
  std::size_t begin = text.rfind('\n');
  std::string_view last = begin == text.npos ? text : trimmed(text.substr(begin));
  return ": " + models::quotable(models::sanitized_text(last), quoted_error_characters);
}

}  // namespace belay::mcp
