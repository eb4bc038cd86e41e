// Uses the library as a program does: passes its settings to the runtime and to the agents,
// once.

#include <stdlib.h>

#include "agents/rules/builtin_model.h"
#include "agents/wellbeing/note_lines.h"
#include "agents/wellbeing/record_rules.h"
#include "agents/wellbeing/wellbeing.h"
#include "belay/storage.h"
#include "belay/testing.h"
#include "cli/config_file.h"
#include "cli/model_settings.h"
#include "cli/modules.h"
#include "program/belay_program.h"
#include "service/json_encode.h"
#include "tests/doors/doors.h"

namespace belay::doors {
namespace {

using wellbeing::AgentInput;
using wellbeing::GraphConfig;

// Returns the settings that the program derives from the variables.
cli::Settings settings_of(const std::map<std::string, std::string>& environment) {
  cli::Program program = *cli::program_with("belay", program::options(), program::modules());
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  cli::Environment read = cli::read_environment(program);
  for (const auto& [name, value] : environment) ::unsetenv(name.c_str());
  read.store = "memory:";
  read.server.reset();
  return cli::settings_from(program, read, cli::GlobalFlags()).value();
}

wellbeing::WellbeingOptions options_of(const cli::Settings& settings) {
  wellbeing::WellbeingOptions options;
  options.language = name_of(settings.language);
  options.language_named = settings.language_named;
  options.time_zone = settings.time_zone;
  auto help = settings.values.find("help_text");
  if (help != settings.values.end()) options.care.local_help = help->second;
  return options;
}

// Fails its first calls.
class LateModel final : public Model {
 public:
  LateModel(std::shared_ptr<Model> model, std::int64_t failures)
      : model_(std::move(model)), failures_(failures) {}
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (failures_-- > 0) co_return error(ErrorCode::unavailable, "The model is away.");
    co_return co_await model_->generate(std::move(request));
  }

 private:
  std::shared_ptr<Model> model_;
  std::int64_t failures_;
};

class LibraryDoor final : public Door {
 public:
  explicit LibraryDoor(const std::map<std::string, std::string>& environment)
      : settings_(settings_of(environment)), options_(options_of(settings_)) {
    std::map<std::string, std::shared_ptr<Model>> own;
    own["builtin"] = rules::make_builtin_model(rules::BuiltinOptions());
    auto model = cli::named_model(settings_, std::move(own), *clock_).value();
    model_ = std::make_shared<LateModel>(std::move(model), settings_.model_fails);
    RuntimeParts parts{*store_, *loop_, *clock_, *random_, *model_};
    parts.run_defaults = settings_.run;
    runtime_ = Runtime::open(std::move(parts)).value();
    wellbeing::add_wellbeing_agents(*runtime_, options_).value();
    auto lines = wellbeing::read_note_lines(notes_of_the_world()).value();
    for (const wellbeing::NoteLine& line : lines) {
      wellbeing::Note note;
      note.id = wellbeing::derived_note_id(line.date, 1, line.content);
      note.date = line.date;
      note.content = line.content;
      save_record(note);
    }
  }

  Came start(const Start& start) override {
    GraphConfig config;
    config.threadId = thread_ = "t" + std::to_string(++asked_);
    if (start.attempts) config.maxRetries = static_cast<int>(*start.attempts);
    if (start.timeout_ms) config.timeout = std::chrono::milliseconds(*start.timeout_ms);
    if (start.no_approval) config.requiresHumanApproval = false;
    AgentInput input{start.date, start.language, start.time_zone};
    if (start.agent == "routine") {
      auto agent = wellbeing::routine_generator_agent(parts(), options_).value();
      return came_of(wait(agent.execute(std::move(input), std::move(config))));
    }
    auto agent = wellbeing::daily_auditor_agent(parts(), options_).value();
    return came_of(wait(agent.execute(std::move(input), std::move(config))));
  }

  Came approve(const Approve& approve) override {
    start(approve.start);
    wellbeing::ResumeInput input;
    input.approved = true;
    if (!approve.changes.empty()) {
      Value payload = payload_of(*view().approval);
      for (const auto& [name, value] : approve.changes) {
        payload.as_object()->insert_or_assign(name, value);
      }
      input.edited = std::move(payload);
    }
    Came came;
    if (approve.start.agent == "routine") {
      auto agent = wellbeing::routine_generator_agent(parts(), options_).value();
      came = came_of(wait(agent.resume(thread_, std::move(input))));
    } else {
      auto agent = wellbeing::daily_auditor_agent(parts(), options_).value();
      came = came_of(wait(agent.resume(thread_, std::move(input))));
    }
    came.left = name_of(view().row.status);
    return came;
  }

  Came save(const Save& save) override {
    if (save.collection == "notes") return save_note(save.members);
    bool is_summary = save.collection == "summaries";
    return is_summary ? save_as<wellbeing::DailySummary>(save.members)
                      : save_as<wellbeing::Routine>(save.members);
  }

 private:
  wellbeing::AgentParts parts() { return wellbeing::AgentParts{*runtime_, *store_}; }

  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop_, std::move(task));
  }

  RunView view() { return wait(runtime_->status(default_tenant(), ThreadId(thread_))).value(); }

  template <typename T>
  Came came_of(const Result<T>& result) {
    Came came;
    if (!result.ok()) {
      came.error = name_of(result.error().code);
      came.words = result.error().message;
    } else {
      came.document = run_document(view(), nullptr);
    }
    return came;
  }

  template <typename R>
  void save_record(const R& record) {
    std::vector<RecordWrite> writes{record_write(record, UserId("local")).value()};
    wait(runtime_->save(default_tenant(), std::move(writes))).value();
  }

  // A program must apply the agents' rules to the records that it saves.
  Came refused(const Error& why) { return {{}, std::string(name_of(why.code)), why.message, {}}; }

  // Saves a note like the lines of an import.
  Came save_note(const Value::Object& members) {
    auto lines = wellbeing::read_note_lines(to_json(Value(members)));
    if (!lines.ok()) return refused(lines.error());
    const wellbeing::NoteLine& line = lines->front();
    wellbeing::Note note;
    note.id = line.id;
    note.content = line.content;
    note.createdAt = line.created_at.value_or(clock_->now());
    note.date = line.date.empty() ? settings_.time_zone.day_of(note.createdAt) : line.date;
    return save_sound(note);
  }

  template <typename R>
  Came save_as(const Value::Object& members) {
    auto record = decode_json<R>(Value(members));
    return record.ok() ? save_sound(*record) : refused(record.error());
  }

  template <typename R>
  Came save_sound(const R& record) {
    if (auto sound = check(record, clock_->now()); !sound.ok()) return refused(sound.error());
    save_record(record);
    return {parse_json(encode_json(record).value()).value(), "", "", {}};
  }

  int asked_ = 0;
  std::string thread_;  // of the newest run
  cli::Settings settings_;
  wellbeing::WellbeingOptions options_;
  std::unique_ptr<Clock> clock_ = system_clock();
  std::unique_ptr<Random> random_ = system_random();
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> store_ = open_memory_store(*clock_, *random_);
  std::shared_ptr<Model> model_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace

std::unique_ptr<Door> make_library_door(std::map<std::string, std::string> environment) {
  return std::make_unique<LibraryDoor>(environment);
}

}  // namespace belay::doors
