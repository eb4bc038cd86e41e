#include "agents/assistant/module.h"

#include <algorithm>

#include "agents/assistant/assistant.h"
#include "belay/tools.h"

namespace belay::assistant {
namespace {

constexpr std::string_view kCutEnglish =
    "The answer ends here because the model's limit was reached.";
constexpr std::string_view kCutSpanish =
    "La respuesta acaba aquí porque se alcanzó el límite del modelo.";

constexpr const char* kFolders = "assistant_folders";
constexpr const char* kFiles = "assistant_files";

// Splits "handbook, notes" into folders.
std::vector<std::string> folders_in(std::string_view text) {
  std::vector<std::string> folders;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(','), text.size());
    std::string_view folder = text.substr(0, end);
    folder.remove_prefix(std::min(folder.find_first_not_of(' '), folder.size()));
    folder = folder.substr(0, folder.find_last_not_of(' ') + 1);
    if (!folder.empty()) folders.emplace_back(folder);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return folders;
}

// The tools that need no network. The files of a folder can contain text of others: once a search
// has returned some, a file is written only with an approval.
Result<std::vector<Tool>> tools_of(const ModuleSettings& settings) {
  std::vector<Tool> tools;
  // The server has the runs, and its own settings.
  if (settings.is_remote) return tools;
  std::vector<std::string> folders = folders_in(settings.value(kFolders));
  if (!folders.empty()) {
    LocalSearchOptions options{.folders = std::move(folders), .untrusted = true};
    BELAY_TRY(Tool search, local_search_tool(std::move(options)));
    tools.push_back(std::move(search));
  }
  if (std::string root = settings.value(kFiles); !root.empty()) {
    FileToolOptions options{.root = std::move(root)};
    tools.push_back(write_file_tool(options));
    tools.push_back(read_file_tool(options));
  }
  return tools;
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
  return module;
}

}  // namespace belay::assistant
