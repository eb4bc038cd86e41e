#include "agents/goals/builtin_planner.h"

#include <algorithm>

#include "agents/goals/characters.h"
#include "agents/goals/planner.h"

namespace belay::goals {
namespace {

constexpr std::string_view kScriptNotice =
    "This is Belay's built-in planner, a script, no language model.";
constexpr const char* kReportPath = "report.md";
constexpr std::int64_t kQueryMax = 200;  // characters

std::string text_in(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

// Returns whether an earlier step has called the tool. `called` has comma-separated names.
bool has_called(const Value& called, std::string_view tool) {
  const Value::Array* steps = called.as_array();
  if (!steps) return false;
  for (const Value& step : *steps) {
    std::string names = ", " + text_in(step) + ", ";
    if (names.find(", " + std::string(tool) + ", ") != std::string::npos) return true;
  }
  return false;
}

bool is_open(const ModelRequest& request, std::string_view tool) {
  auto has_name = [&](const ToolDefinition& each) { return each.name == tool; };
  bool exists = std::any_of(request.tools.begin(), request.tools.end(), has_name);
  return exists && !has_called(request.input["called"], tool);
}

ModelReply scripted_reply(std::string_view text) {
  ModelReply reply;
  reply.text = std::string(kScriptNotice) + " " + std::string(text);
  reply.provider = "builtin";
  reply.model = "builtin-planner/1";
  reply.method = "script";
  reply.notice = kScriptNotice;
  return reply;
}

ModelReply reply_with_call(std::string_view text, std::string_view tool, Value arguments) {
  ModelReply reply = scripted_reply(text);
  reply.tool_calls.push_back({"call", std::string(tool), std::move(arguments)});
  reply.stop_reason = StopReason::tool_calls;
  return reply;
}

std::string report_of(const Value& input) {
  std::string found = text_in(input["found"]);
  if (found.empty()) found = "No search was made.";
  return "# " + text_in(input["objective"]) + "\n\n" + std::string(kScriptNotice) + "\n\n" + found +
         "\n";
}

ModelReply scripted_plan(const ModelRequest& request) {
  const Value& input = request.input;
  if (is_open(request, "search")) {
    std::string query = first_characters(text_in(input["objective"]), kQueryMax);
    return reply_with_call("It searches the folders for the objective.", "search",
                           Value::object({{"query", std::move(query)}}));
  }
  if (is_open(request, "write_file")) {
    return reply_with_call("It writes the results to a report.", "write_file",
                           Value::object({{"path", kReportPath}, {"text", report_of(input)}}));
  }
  if (is_open(request, "read_file") && has_called(input["called"], "write_file")) {
    return reply_with_call("It reads the report.", "read_file",
                           Value::object({{"path", kReportPath}}));
  }
  return scripted_reply("It has called each tool that it can use.");
}

ModelReply scripted_summary(const Value& input) {
  std::string text = "Objective: " + text_in(input["objective"]) +
                     "\nSteps: " + std::to_string(input["steps"].as_int().value_or(0)) +
                     "\nTools: ";
  std::string tools;
  if (const Value::Array* called = input["called"].as_array()) {
    for (const Value& step : *called) tools += (tools.empty() ? "" : ", ") + text_in(step);
  }
  text += tools.empty() ? "none" : tools;
  if (std::string found = text_in(input["found"]); !found.empty()) text += "\n" + found;
  return scripted_reply(text);
}

class BuiltinPlanner final : public Model {
 public:
  explicit BuiltinPlanner(std::shared_ptr<Model> other) : other_(std::move(other)) {}

  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (!is_own(request)) co_return co_await other_->generate(std::move(request));
    bool is_plan = request.purpose == kPlanPurpose;
    ModelReply reply = is_plan ? scripted_plan(request) : scripted_summary(request.input);
    // As models do: a replay streams the text of the recorded reply.
    if (request.on_text_delta) request.on_text_delta(reply.text);
    co_return std::move(reply);
  }
  std::string name() const override { return other_->name(); }
  // The script costs nothing and counts against no budget.
  std::optional<ModelPrice> price(const ModelRequest& request) const override {
    return is_own(request) ? ModelPrice{} : other_->price(request);
  }
  std::int64_t input_tokens_max(const ModelRequest& request) const override {
    return is_own(request) ? 0 : other_->input_tokens_max(request);
  }

 private:
  static bool is_own(const ModelRequest& request) {
    return request.purpose == kPlanPurpose || request.purpose == kSummaryPurpose;
  }

  std::shared_ptr<Model> other_;
};

}  // namespace

std::shared_ptr<Model> with_builtin_planner(std::shared_ptr<Model> other) {
  return std::make_shared<BuiltinPlanner>(std::move(other));
}

}  // namespace belay::goals
