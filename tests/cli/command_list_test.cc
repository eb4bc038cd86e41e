// The list of commands: its entries are consistent, and a program cannot add one that clashes.

#include "cli/command_list.h"

#include <gmock/gmock.h>

#include "belay/command.h"
#include "cli/arguments.h"
#include "cli/program.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;

class GreetCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("NAME", name_, "The name").required();
    words.option("--times", times_, "Number of greetings").range(1, 3).shows_default();
  }
  Task<CommandResult> run(CommandContext&) override { co_return ExitCode::done; }

 private:
  std::string name_;
  std::size_t times_ = 1;
};

CommandSpec greet(std::vector<std::string> path) {
  return {.path = std::move(path),
          .line = "Greet",
          .end = "Example:\n  {p} greet Ana\n",
          .make = make_command<GreetCommand>};
}

Program program_with(std::vector<CommandSpec> commands) {
  Program program;
  program.name = program.call = "shop";
  program.about = "shop - a test.";
  program.commands = std::move(commands);
  return program;
}

Result<Parsed> parse(const Program& program, std::vector<const char*> words) {
  words.insert(words.begin(), "shop");
  return parse_arguments(program, static_cast<int>(words.size()), words.data());
}

std::string refusal_of(const Program& program) {
  auto parsed = parse(program, {"status"});
  return parsed.ok() ? "none" : parsed.error().message;
}

TEST(CommandList, TheCommandsOfAProgramAreBeforeThoseOfEveryProgram) {
  Program program = program_with({greet({"greet"})});
  std::vector<CommandSpec> commands = command_list(program).value();
  ASSERT_GT(commands.size(), 2u);
  EXPECT_EQ(commands[0].path, std::vector<std::string>{"greet"});
  EXPECT_EQ(commands[1].path, std::vector<std::string>{"run"});
  EXPECT_TRUE(parse(program, {"greet", "Ana", "--times", "3"}).ok());
  EXPECT_FALSE(parse(program, {"greet", "Ana", "--times", "4"}).ok());
  auto help = parse(program, {"greet", "--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_THAT(std::get<std::string>(*help), HasSubstr("shop greet Ana"));
}

TEST(CommandList, TwoCommandsOfOnePathAreRefusedAtTheStart) {
  EXPECT_EQ(
      refusal_of(program_with({greet({"history"})})),
      "Two commands have the name \"history\": \"Greet\" and \"List the commits of a thread's "
      "runs\". Rename one of them.");
  std::string below = refusal_of(
      program_with({greet({"greet"}), greet({"greet", "all"}), greet({"greet", "all"})}));
  EXPECT_THAT(below, HasSubstr("Two commands have the name \"greet all\""));
}

TEST(CommandList, AFormerNameIsTaken) {
  EXPECT_THAT(refusal_of(program_with({greet({"tail"})})), HasSubstr("\"Show a run's events\""));
}

TEST(CommandList, TwoFormsOfOneNameAreRefused) {
  Program program = program_with({});
  program.forms = {{"day", "Audit a day", "audit", nullptr},
                   {"day", "Plan a day", "plan", nullptr}};
  EXPECT_EQ(
      refusal_of(program),
      "Two commands have the name \"run day\": \"Audit a day\" and \"Plan a day\". Rename one "
      "of them.");
}

TEST(CommandList, ACommandMayHaveTheNameOfOneInAnotherGroup) {
  EXPECT_EQ(refusal_of(program_with({greet({"greet"}), greet({"greet", "history"})})), "none");
}

TEST(CommandList, TheGroupOfACommandPrecedesIt) {
  EXPECT_EQ(refusal_of(program_with({greet({"greet", "all"}), greet({"greet"})})),
            "The command \"greet all\" is not below a command that precedes it.");
  EXPECT_THAT(refusal_of(program_with({greet({})})), HasSubstr("has no name"));
}

// Commands of a group that is not offered would be without it.
TEST(CommandList, AProgramWithItsOwnModelHasNoCommandsForModels) {
  Program program = program_with({});
  std::size_t all = command_list(program).value().size();
  program.brings_model = true;
  EXPECT_EQ(command_list(program).value().size(), all - 4);
}

TEST(CommandList, TheTraitsOfEachCommandFitItsClass) {
  int defaults = 0;
  for (const CommandSpec& spec : command_list(program_with({})).value()) {
    SCOPED_TRACE(spec.path.back());
    EXPECT_FALSE(spec.line.empty());
    EXPECT_TRUE(spec.end.ends_with("\n"));
    defaults += spec.is_default ? 1 : 0;
    if (!spec.make) continue;
    std::unique_ptr<Command> command = spec.make();
    const CommandTraits& traits = spec.traits;
    EXPECT_EQ(traits.is_service, command->work() != nullptr);
    bool is_of_a_process =
        traits.asks_server || traits.is_about_settings || !traits.uses_named_servers;
    bool is_of_a_store = !traits.needs_own_store.empty() || traits.creates_store ||
                         !traits.uses_store || !traits.processes_due || traits.is_service ||
                         traits.serves_http;
    EXPECT_FALSE(is_of_a_process && !command->in_process());
    EXPECT_FALSE(is_of_a_store && command->in_process());
  }
  EXPECT_EQ(defaults, 1);
}

}  // namespace
}  // namespace belay::cli::tests
