#include "cli/payload_editor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "base/in_quotes.h"
#include "belay/command.h"
#include "belay/limits.h"

namespace belay::cli {
namespace {

Error nothing_decided(std::string why) {
  return error(ErrorCode::invalid, std::move(why) + " Nothing was decided.");
}

std::optional<std::string> editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value && *value) return std::string(value);
  }
  return std::nullopt;
}

// A folder of this user with one file; removed with the object.
class EditedFile {
 public:
  static Result<EditedFile> make(const std::string& name, const std::string& text) {
    std::error_code failed;
    std::string folder = (std::filesystem::temp_directory_path(failed) / "belay-XXXXXX").string();
    if (failed || !::mkdtemp(folder.data())) {
      return nothing_decided("The file for the editor cannot be created.");
    }
    EditedFile file(folder, folder + "/" + name);
    std::ofstream out(file.path_, std::ios::binary);
    out << text;
    out.close();
    if (!out) return nothing_decided("The file for the editor cannot be written.");
    return file;
  }
  EditedFile(EditedFile&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), path_(std::move(other.path_)) {}
  EditedFile& operator=(EditedFile&&) = delete;
  EditedFile(const EditedFile&) = delete;
  EditedFile& operator=(const EditedFile&) = delete;
  ~EditedFile() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  EditedFile(std::string folder, std::string path)
      : folder_(std::move(folder)), path_(std::move(path)) {}
  std::string folder_, path_;
};

// The variable can have arguments ("code --wait"): a shell reads it, as git does.
Result<Done> run_editor(const std::string& editor, const std::string& path) {
  std::string script = editor + " \"$1\"";
  const char* arguments[] = {"sh", "-c", script.c_str(), "sh", path.c_str(), nullptr};
  pid_t child = ::fork();
  if (child == 0) {
    ::execv("/bin/sh", const_cast<char* const*>(arguments));
    ::_exit(127);
  }
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  bool has_worked = child > 0 && ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (has_worked) return Done{};
  return nothing_decided("The editor " + in_quotes(editor) + " failed.");
}

}  // namespace

std::string payload_text(const Value& payload) {
  const std::string* text = payload.as_string();
  return text ? *text : to_pretty_json(payload);
}

Result<Value> edit_payload(const Value& payload) {
  auto editor = editor_command();
  if (!editor) {
    return nothing_decided(
        "No editor is set. Set VISUAL or EDITOR, or name a JSON file: --edit FILE.");
  }
  std::string shown = payload_text(payload);
  bool is_text = payload.as_string() != nullptr;
  // Editors end a file with a line break.
  bool adds_end = shown.empty() || shown.back() != '\n';
  BELAY_TRY(EditedFile file, EditedFile::make(is_text ? "payload.txt" : "payload.json",
                                              adds_end ? shown + "\n" : shown));
  BELAY_CHECK(run_editor(*editor, file.path()));
  BELAY_TRY(std::string text, read_input(file.path(), limits::record_bytes_max));
  if (adds_end && !text.empty() && text.back() == '\n') text.pop_back();
  if (text == shown) return nothing_decided("The payload was not changed.");
  // A person who empties the file wants to stop.
  bool is_empty = text.find_first_not_of("\r\n") == text.npos;
  if (is_empty) return nothing_decided("The edited payload is empty.");
  if (is_text) {
    if (first_invalid_utf8(text)) return nothing_decided("The edited payload is not valid UTF-8.");
    return Value(std::move(text));
  }
  auto edited = parse_json(text);
  if (!edited.ok()) {
    return nothing_decided("Invalid edited payload: " + edited.error().message);
  }
  if (*edited == payload) return nothing_decided("The payload was not changed.");
  return edited;
}

}  // namespace belay::cli
