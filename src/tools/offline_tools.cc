#include <algorithm>

#include "belay/tools.h"

namespace belay {
namespace {

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

}  // namespace

Result<std::vector<Tool>> offline_tools(std::string_view folders, const std::string& root) {
  std::vector<Tool> tools;
  LocalSearchOptions search{.folders = folders_in(folders), .untrusted = true};
  if (!search.folders.empty()) {
    BELAY_TRY(Tool tool, local_search_tool(std::move(search)));
    tools.push_back(std::move(tool));
  }
  if (!root.empty()) {
    FileToolOptions options{.root = root};
    tools.push_back(write_file_tool(options));
    tools.push_back(read_file_tool(options));
  }
  return tools;
}

}  // namespace belay
