#include "mcp/pins.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/in_quotes.h"
#include "base/write_all.h"
#include "belay/ids.h"
#include "tools/descriptor.h"

namespace belay::mcp {
namespace {

constexpr std::size_t file_bytes_max = 16u << 20;
constexpr int file_mode = 0600;

// The form of the file.
struct PinFile {
  std::map<std::string, ServerPins> servers{};
};

std::string digest(std::string_view text) { return to_hex(sha256(text)); }

PinDifference difference_of(PinChange change, const ServerOptions& server, std::string tool) {
  PinDifference difference;
  difference.change = change;
  difference.server = server.name;
  difference.tool = std::move(tool);
  return difference;
}

std::vector<std::string> changed_parts(const ToolPin& before, const ToolPin& now) {
  std::vector<std::string> parts;
  if (before.schema != now.schema) parts.emplace_back("schema");
  if (before.description != now.description) parts.emplace_back("description");
  if (before.effect != now.effect) parts.emplace_back("effect");
  return parts;
}

Error file_fault(const std::string& path, std::string_view what, int fault) {
  return error(ErrorCode::unavailable, "The pin file " + in_quotes(path) + " could not be " +
                                           std::string(what) + ": " + std::strerror(fault) + ".");
}

Result<std::optional<std::string>> contents_of(const std::string& path) {
  tools::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::optional<std::string>();
  if (!file.is_open()) return file_fault(path, "opened", errno);
  std::string text;
  char bytes[16 * 1024];
  while (true) {
    ssize_t count = ::read(file.number(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_fault(path, "read", errno);
    if (count == 0) return std::optional<std::string>(std::move(text));
    text.append(bytes, static_cast<std::size_t>(count));
    if (text.size() > file_bytes_max) return file_fault(path, "read", EFBIG);
  }
}

// Writes a new file and makes it durable.
Result<Done> write_new(const std::string& path, std::string_view text) {
  tools::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file_mode));
  if (!file.is_open()) return file_fault(path, "created", errno);
  if (int fault = write_all(file.number(), text)) return file_fault(path, "written", fault);
  if (::fsync(file.number()) != 0) return file_fault(path, "written", errno);
  return Done{};
}

}  // namespace

ToolPin pin_of(const ToolInfo& tool) {
  ToolPin pin;
  pin.schema = digest(to_json(tool.input_schema));
  pin.description = digest(tool.description);
  pin.effect = name_of(tool.effect());
  return pin;
}

std::string identity_of(const ServerOptions& server) {
  Value::Array command;
  for (const std::string& argument : server.command) command.emplace_back(argument);
  return digest(to_json(Value::object({{"command", std::move(command)}, {"url", server.url}})));
}

Result<Pins> read_pins(const std::string& path) {
  BELAY_TRY(auto text, contents_of(path));
  if (!text) return Pins();
  auto document = parse_json(*text);
  bool has_servers = document.ok() && (*document)["servers"].as_object();
  auto file = has_servers ? decode_json<PinFile>(*document) : error(ErrorCode::corrupt, "");
  if (file.ok()) return std::move(file->servers);
  return error(ErrorCode::corrupt, "The pin file " + in_quotes(path) +
                                       " is malformed. Restore it, or delete it and accept the "
                                       "tools again.");
}

Result<Done> write_pins(const std::string& path, const Pins& pins) {
  BELAY_TRY(std::string text, encode_json(PinFile{pins}));
  BELAY_TRY(Value document, parse_json(text));
  std::string fresh = path + ".new";
  BELAY_CHECK(write_new(fresh, to_pretty_json(document) + "\n"));
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return file_fault(path, "replaced", errno);
  return Done{};
}

std::vector<PinDifference> check_pins(const Pins& pins, const ServerOptions& server,
                                      const std::vector<ToolInfo>& tools) {
  auto found = pins.find(server.name);
  ServerPins pinned = found == pins.end() ? ServerPins() : found->second;
  bool is_other = found != pins.end() && pinned.identity != identity_of(server);
  std::vector<PinDifference> differences;
  std::vector<const ToolInfo*> added;
  std::map<std::string, ToolPin> missing = pinned.tools;
  for (const ToolInfo& tool : tools) {
    auto pin = pinned.tools.find(tool.name);
    missing.erase(tool.name);
    if (pin == pinned.tools.end()) {
      added.push_back(&tool);
      continue;
    }
    std::vector<std::string> parts = changed_parts(pin->second, pin_of(tool));
    if (is_other) parts.emplace_back("server");
    if (parts.empty()) continue;
    differences.push_back(difference_of(PinChange::changed, server, tool.name));
    differences.back().parts = std::move(parts);
  }
  for (const ToolInfo* tool : added) {
    auto former = std::find_if(missing.begin(), missing.end(),
                               [&](const auto& each) { return each.second == pin_of(*tool); });
    bool is_renamed = former != missing.end();
    differences.push_back(
        difference_of(is_renamed ? PinChange::renamed : PinChange::added, server, tool->name));
    if (!is_renamed) continue;
    differences.back().former_name = former->first;
    missing.erase(former);
  }
  for (const auto& [name, pin] : missing) {
    differences.push_back(difference_of(PinChange::removed, server, name));
  }
  return differences;
}

void accept_pins(Pins& pins, const ServerOptions& server, const std::vector<ToolInfo>& tools) {
  ServerPins accepted;
  accepted.identity = identity_of(server);
  for (const ToolInfo& tool : tools) accepted.tools.emplace(tool.name, pin_of(tool));
  pins.insert_or_assign(server.name, std::move(accepted));
}

std::string PinDifference::text() const {
  std::string which = "The tool " + in_quotes(tool) + " of the MCP server " + in_quotes(server);
  switch (change) {
    case PinChange::added:
      return which + " is new.";
    case PinChange::removed:
      return which + " was removed.";
    case PinChange::renamed:
      return which + " was named " + in_quotes(former_name) + ".";
    case PinChange::changed:
      break;
  }
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + part;
  return which + " has changed: " + list + ".";
}

std::string_view name_of(PinChange change) {
  switch (change) {
    case PinChange::added:
      return "added";
    case PinChange::removed:
      return "removed";
    case PinChange::renamed:
      return "renamed";
    case PinChange::changed:
      return "changed";
  }
  return "changed";
}

}  // namespace belay::mcp
