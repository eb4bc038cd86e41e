#pragma once
// mcp/stdio_connection.h - StdioConnection: a Connection to a program, one message a line. Its
// thread reads and writes the pipes.
//
// Ends if the process ends, or exceeds a limit; the process is then killed. The destructor stops
// the process, which can take twice StdioOptions::grace.

#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "mcp/child_process.h"
#include "mcp/connection.h"

namespace belay::mcp {

struct StdioOptions {
  std::string name;  // of the server, for messages
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::size_t message_bytes_max = 0;
  std::chrono::milliseconds grace{0};
};

// Limits of one connection.
inline constexpr std::size_t outgoing_bytes_max = 32u << 20;  // that the server has not read
inline constexpr std::size_t garbage_lines_max = 100;         // lines that are no messages
inline constexpr std::size_t unrequested_max = 10'000;        // messages between two replies
inline constexpr std::size_t progress_notes_max = 10'000;     // between two replies
inline constexpr std::size_t error_bytes_max = 4'096;         // of the standard error output

class StdioConnection final : public Connection,
                              public std::enable_shared_from_this<StdioConnection> {
 public:
  static Result<std::shared_ptr<StdioConnection>> open(StdioOptions options);
  StdioConnection(StdioOptions options, ChildProcess process,
                  tools::Descriptor waker);  // use open()
  StdioConnection(const StdioConnection&) = delete;
  StdioConnection& operator=(const StdioConnection&) = delete;
  ~StdioConnection() override;

  Task<Result<Reply>> send(Request request) override;
  Task<Result<Done>> notify(std::string method, Value params) override;
  void post(Request request) override;
  void answer(std::string text) override;
  void listen(Request request) override;
  void use(Dialect dialect) override;
  bool is_usable() override;
  std::uint64_t changes() override;

 private:
  struct Pending;
  struct Awaiting {
    Inbox inbox;
    bool takes_progress = false;
    bool takes_questions = false;
  };
  struct Outgoing {
    std::string text;
    std::int64_t request = 0;  // 0: not a request
  };

  // From any thread.
  Result<std::int64_t> begin(const Request& request, const Inbox& inbox);
  std::int64_t push_request(Request request);  // REQUIRES: mutex_ is held
  void forget(std::int64_t request, bool cancels);
  Result<Done> push(Outgoing outgoing);  // REQUIRES: mutex_ is held
  void wake();

  // On the thread.
  void serve();
  bool wait_for_event();
  bool write_some();
  bool read_output();
  void read_errors();
  bool take_bytes(std::string_view bytes);
  bool take_line(std::string_view line);
  bool take_message(Message message);
  bool take_reply(Message& message);           // REQUIRES: mutex_ is held
  bool take_progress(const Message& message);  // REQUIRES: mutex_ is held
  bool take_question(Message& request);        // REQUIRES: mutex_ is held
  bool answer_server(Message request);
  bool fail(ErrorCode code, std::string fault);
  void end();
  std::string last_error() const;

  const StdioOptions options_;
  const tools::Descriptor waker_;

  std::mutex mutex_;
  // Protected by mutex_.
  std::deque<Outgoing> outgoing_;
  std::size_t outgoing_bytes_ = 0;
  std::map<std::int64_t, Awaiting> pending_;
  std::int64_t last_id_ = 0;
  std::int64_t listening_ = 0;  // the id of the request that listens for changes; 0: none
  bool is_modern_ = false;
  std::uint64_t changes_ = 0;
  bool is_stopping_ = false;
  std::optional<Error> ended_;

  // Used only by the thread.
  ChildProcess process_;
  std::string line_;      // the beginning of a line
  std::size_t sent_ = 0;  // bytes of outgoing_.front() that are written
  std::string stderr_;    // its end
  std::size_t garbage_ = 0;
  std::size_t unrequested_ = 0;
  std::size_t progress_notes_ = 0;
  std::optional<Error> fault_;  // a limit that the server exceeded

  std::thread thread_;  // last: it uses all members above
};

}  // namespace belay::mcp
