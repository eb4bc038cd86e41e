#include "program/new_project.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "belay/command.h"

namespace belay::program {
namespace {

constexpr const char* kNewHelp =
    R"(The project has an agent with two tools, one of which needs an approval, its program, and a
test that crashes it at every point. docs/first-project.md explains it. NAME is also the name
of the folder, which must not exist, of the agent and of the program.

Example:
  {p} new helpdesk
)";

constexpr std::string_view kTemplateName = "helpdesk";
constexpr std::size_t kNameBytesMax = 32;

// Targets that CMake or its generators reserve, and the program that the project uses.
constexpr std::array<std::string_view, 14> kReserved = {
    "all",        "belay",          "clean",      "depend",
    "edit_cache", "help",           "install",    "list_install_components",
    "package",    "package_source", "preinstall", "rebuild_cache",
    "test",       "uninstall"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_name(std::string_view name) {
  bool has_characters = std::all_of(name.begin(), name.end(), [](char c) {
    return is_lower(c) || (c >= '0' && c <= '9') || c == '_';
  });
  return !name.empty() && name.size() <= kNameBytesMax && is_lower(name.front()) && has_characters;
}

std::string with_name(std::string text, std::string_view name) {
  for (std::size_t at = text.find(kTemplateName); at != text.npos;
       at = text.find(kTemplateName, at + name.size())) {
    text.replace(at, kTemplateName.size(), name);
  }
  return text;
}

Result<Done> write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.good()) return Done{};
  return error(ErrorCode::unavailable, "Could not write the file " + path.string() + ".");
}

class NewProject final : public ModuleCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("NAME", name_, "Lower-case letters, digits and underscores").required();
  }
  Result<Done> validate(const ModuleSettings&) override {
    BELAY_TRY(files_, project_files(name_));
    return Done{};
  }
  Task<Result<ExitCode>> run(ModuleContext& context) override {
    BELAY_CO_CHECK(write_project("", name_, files_));
    Output& output = context.output;
    output.line("Created the project " + name_ + "/:");
    Value::Array paths;
    for (const ProjectFile& file : files_) {
      output.line("  " + file.path);
      paths.push_back(Value(file.path));
    }
    output.line();
    output.line("Next:");
    for (const std::string& line : next_commands()) output.line("  " + line);
    output.document(Value::object({{"folder", name_}, {"files", std::move(paths)}}));
    co_return ExitCode::done;
  }

 private:
  std::vector<std::string> next_commands() const {
    return {
        "cd " + name_, "cmake -S . -B build && cmake --build build", "ctest --test-dir build",
        "export BELAY_MODEL=ollama:llama3.2",
        "build/" + name_ + " run --thread first --input question=\"Order A-17 arrived broken.\""};
  }

  std::string name_;
  std::vector<ProjectFile> files_;
};

}  // namespace

Result<std::vector<ProjectFile>> project_files(std::string_view name) {
  if (!is_name(name)) {
    return error(ErrorCode::invalid,
                 "\"" + one_line(name) +
                     "\" is not a name for a project. Use lower-case letters, digits and "
                     "underscores, first a letter, at most " +
                     std::to_string(kNameBytesMax) + " characters.");
  }
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
    return error(ErrorCode::invalid, "The name \"" + std::string(name) +
                                         "\" is reserved for builds. Choose another name.");
  }
  std::vector<ProjectFile> files = template_files();
  for (ProjectFile& file : files) file.text = with_name(std::move(file.text), name);
  return files;
}

Result<Done> write_project(const std::string& parent, std::string_view name,
                           const std::vector<ProjectFile>& files) {
  std::filesystem::path folder = std::filesystem::path(parent) / name;
  std::error_code failed;
  // Does not replace anything: another process may create the folder at the same time.
  bool is_new = std::filesystem::create_directory(folder, failed);
  if (!is_new && (!failed || failed == std::errc::file_exists)) {
    return error(ErrorCode::conflict,
                 "\"" + folder.string() + "\" exists. Choose another name, or delete it first.");
  }
  if (failed) {
    return error(ErrorCode::unavailable,
                 "Could not create the folder " + folder.string() + ": " + failed.message() + ".");
  }
  for (const ProjectFile& file : files) {
    auto written = write_file(folder / file.path, file.text);
    if (written.ok()) continue;
    std::filesystem::remove_all(folder, failed);
    return std::move(written).error();
  }
  return Done{};
}

Module project_module() {
  Module module;
  module.name = "project";
  module.commands.push_back({.path = {"new"},
                             .line = "Create the project of an agent in a new folder",
                             .end = kNewHelp,
                             .uses_store = false,
                             .make = make_module_command<NewProject>});
  return module;
}

}  // namespace belay::program
