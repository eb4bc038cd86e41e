#include "base/in_quotes.h"
#include "belay/tools.h"
#include "tools/file_access.h"
#include "tools/file_path.h"

namespace belay {
namespace tools {
namespace {

constexpr std::int64_t read_bytes = 32 * 1024;

struct WriteFileArguments {
  std::string path{};
  std::string text{};
  static void describe(Described<WriteFileArguments>& arguments) {
    arguments.member(&WriteFileArguments::path)
        .text("A relative path with / between its components, such as notes/today.md")
        .length(1, path_bytes_max);
    arguments.member(&WriteFileArguments::text).text("The whole new content of the file");
  }
};

struct ReadFileArguments {
  std::string path{};
  std::int64_t offset = 0;
  std::int64_t length = read_bytes;
  static void describe(Described<ReadFileArguments>& arguments) {
    constexpr std::int64_t greatest = std::int64_t{1} << 52;
    arguments.member(&ReadFileArguments::path)
        .text("A relative path with / between its components, such as notes/today.md")
        .length(1, path_bytes_max);
    arguments.member(&ReadFileArguments::offset)
        .text("The first byte to read, from 0 on")
        .between(std::int64_t{0}, greatest)
        .optional();
    arguments.member(&ReadFileArguments::length)
        .text("The maximum number of bytes to read; 32768 if omitted")
        .between(std::int64_t{1}, greatest)
        .optional();
  }
};

FileAccess access_of(const FileToolOptions& options, ToolContext& call) {
  FileLimits limits{options.bytes_max, options.files_max, options.file_bytes_max};
  return FileAccess(options.root, options.shared ? "" : call.node().run().text(), limits);
}

Result<std::string> written(const FileAccess& access, const WriteFileArguments& arguments) {
  BELAY_CHECK(access.write(arguments.path, arguments.text));
  return "Wrote " + std::to_string(arguments.text.size()) + " bytes to " +
         shown_path(arguments.path) + ".";
}

Result<std::string> read(const FileAccess& access, const ReadFileArguments& arguments) {
  BELAY_TRY(FileText file, access.read(arguments.path, static_cast<std::uint64_t>(arguments.offset),
                                       static_cast<std::uint64_t>(arguments.length)));
  std::uint64_t end = file.begin + file.text.size();
  if (file.begin == 0 && end == file.size) return std::move(file.text);
  std::string text = std::move(file.text);
  text += "\n[These are bytes " + std::to_string(file.begin) + " to " + std::to_string(end) +
          " of " + std::to_string(file.size) + ".";
  if (end < file.size) text += " Continue with offset " + std::to_string(end) + ".";
  return text + "]";
}

// Makes a tool whose function uses the files of its run, on the blocking pool.
template <typename Arguments>
Tool file_tool(ToolOptions tool, FileToolOptions options,
               Result<std::string> (*function)(const FileAccess&, const Arguments&)) {
  return make_tool<Arguments>(std::move(tool),
                              [options, function](const Arguments& arguments, ToolContext& call) {
                                auto work = [access = access_of(options, call), arguments,
                                             function] { return function(access, arguments); };
                                return call.node().run_blocking(work);
                              });
}

}  // namespace
}  // namespace tools

Tool write_file_tool(FileToolOptions options) {
  ToolOptions tool;
  tool.name = "write_file";
  tool.description = "Creates or replaces a text file.";
  tool.effect = ToolEffect::keyed;
  tool.approval = options.write_approval;
  return tools::file_tool(std::move(tool), std::move(options), tools::written);
}

Tool read_file_tool(FileToolOptions options) {
  ToolOptions tool;
  tool.name = "read_file";
  tool.description = "Returns the text of a file, or a part of it.";
  tool.effect = ToolEffect::reads;
  tool.untrusted = options.untrusted;
  return tools::file_tool(std::move(tool), std::move(options), tools::read);
}

}  // namespace belay
