#include "agents/assistant/module.h"

#include <algorithm>

#include "agents/assistant/assistant.h"
#include "agents/assistant/conversation_form.h"
#include "belay/tools.h"

namespace belay::assistant {
namespace {

constexpr std::string_view kCutEnglish =
    "The answer ends here because the model's limit was reached.";
constexpr std::string_view kCutSpanish =
    "La respuesta acaba aquí porque se alcanzó el límite del modelo.";

constexpr const char* kFolders = "assistant_folders";
constexpr const char* kFiles = "assistant_files";

Result<std::vector<Tool>> tools_of(const ModuleSettings& settings) {
  // The server has the runs, and its own settings.
  if (settings.is_remote) return std::vector<Tool>();
  return offline_tools(settings.value(kFolders), settings.value(kFiles));
}

Result<Definitions> graphs(const ModuleSettings& settings) {
  BELAY_TRY(std::vector<Tool> tools, tools_of(settings));
  BELAY_TRY(auto graph, assistant(std::move(tools)));
  return Definitions{graph.definition()};
}

// Returns the answer in a state; null before the first answer, and in states of other agents.
const std::string* answer_in(const Value& state) {
  const std::string* answer = state["answer"].as_string();
  return state.find("question") && answer && !answer->empty() ? answer : nullptr;
}

const Value* made_in(const Value& state) { return answer_in(state) ? &state : nullptr; }

// Prints the lines unwrapped, so that a program in the answer can be copied.
bool show_answer(ModuleContext& context, const Value& state) {
  const std::string* answer = answer_in(state);
  if (!answer) return false;
  Output& output = context.output;
  std::string_view rest = *answer;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    output.line(one_line(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (state["truncated"] == Value(true)) {
    bool is_spanish = context.settings.language == Language::es;
    output.line(output.styled(Style::warning, is_spanish ? kCutSpanish : kCutEnglish));
  }
  const std::string* notice = state["notice"].as_string();
  if (notice && !notice->empty()) {
    std::string lines = wrapped(*notice, output.width(), "  ");
    if (lines.ends_with('\n')) lines.pop_back();
    output.line(output.styled(Style::faint, lines));
  }
  return true;
}

}  // namespace

Module module() {
  Module module;
  module.name = "assistant";
  module.graphs = graphs;
  module.settings = {{kFolders, "BELAY_ASSISTANT_FOLDERS",
                      "folders that the assistant can search, comma-separated", true},
                     {kFiles, "BELAY_ASSISTANT_FILES",
                      "folder for the files that the assistant writes and reads", true}};
  module.presentation.payload = show_answer;
  module.presentation.made = made_in;
  module.presentation.conversations.emplace(kAssistant, conversation_form());
  return module;
}

}  // namespace belay::assistant
