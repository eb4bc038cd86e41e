// `belay steer`: sends a message to a run in progress, or lists those of a thread.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "service/steering.h"

namespace belay::cli {
namespace {

constexpr const char* kSteerHelp =
    R"(The run's agent uses the message exactly once: in its next call of the model, or with
--after-answer as its next question. The message is stored when the command ends. A message that
still waits when the run has ended was not used. Without TEXT, lists the messages of the thread.

Examples:
  {p} steer research "Only sources since 2024"
  {p} steer research --after-answer "Then write it to report.md"
  {p} steer research
)";

class SteerCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    words.argument("TEXT", text_, "The message");
    words.flag("--after-answer", after_answer_, "Use it after the agent's answer");
    words.option("--id", id_, "Name of the message: sent again, it is stored once");
    words.option("--by", by_, "Sender (default: login name)");
  }
  Result<Done> validate(const CommandValidation&) override {
    BELAY_CHECK(check_thread(thread_));
    return check_decider(by_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    if (text_) return send(world);
    return list(world);
  }

 private:
  static std::string line_of(const SteeringMessage& message) {
    std::string state = message.waits ? "waits" : "used by " + message.used_by;
    return one_line(message.id) + "  " + state + "  " + one_line(message.text);
  }

  Task<CommandResult> send(CommandContext& world) {
    Steer message;
    message.text = *text_;
    message.id = id_;
    message.by = acting_name(world, by_);
    if (after_answer_) message.use = SteeringUse::after_answer;
    ThreadId thread(thread_);
    BELAY_CO_TRY(SteeringMessage accepted,
                 co_await world.service.steer(world.who, std::move(thread), std::move(message)));
    world.output.line("The message " + one_line(accepted.id) +
                      " is stored for the run of thread \"" + one_line(thread_) + "\".");
    world.output.document(steering_document(accepted));
    co_return ExitCode::done;
  }

  Task<CommandResult> list(CommandContext& world) {
    ThreadId thread(thread_);
    BELAY_CO_TRY(auto messages, co_await world.service.steering(world.who, std::move(thread)));
    Value::Array documents;
    for (const SteeringMessage& message : messages) {
      world.output.line(line_of(message));
      documents.push_back(steering_document(message));
    }
    if (messages.empty()) world.output.line("No messages.");
    world.output.document(Value::object({{"messages", std::move(documents)}}));
    co_return ExitCode::done;
  }

  std::string thread_;
  std::optional<std::string> text_;
  bool after_answer_ = false;
  std::string id_;
  std::optional<std::string> by_;
};

}  // namespace

CommandSpec builtin::steer_command(const Program&) {
  return {.path = {"steer"},
          .line = "Send a message to a run in progress",
          .end = kSteerHelp,
          .make = make_command<SteerCommand>};
}

}  // namespace belay::cli
