#include "cli/config.h"

namespace belay::cli {

ExitCode show_config(const std::optional<ConfigFile>& file, const std::vector<Explained>& settings,
                     Output& output) {
  std::size_t key_width = 0, value_width = 0;
  for (const Explained& one : settings) {
    key_width = std::max(key_width, columns(one.key));
    value_width = std::max(value_width, columns(one.value));
  }
  value_width = std::min(value_width, std::size_t{48});
  Value::Array documents;
  for (const Explained& one : settings) {
    output.line(padded(one.key, key_width) + "  " + padded(one_line(one.value), value_width) +
                "  " + output.styled(Style::faint, one_line(one.origin)));
    documents.push_back(
        Value::object({{"name", one.key}, {"value", one.value}, {"from", one.origin}}));
  }
  output.document(Value::object(
      {{"file", file ? Value(file->path) : Value()}, {"settings", std::move(documents)}}));
  return ExitCode::done;
}

ExitCode show_config_path(const std::optional<ConfigFile>& file,
                          const std::vector<std::string>& places, Output& output) {
  Value::Array looked;
  for (const std::string& place : places) looked.push_back(place);
  if (file) {
    output.line(one_line(file->path));
  } else {
    output.line("No settings file. It is read from the first of these that exists:");
    for (const std::string& place : places) output.line("  " + one_line(place));
  }
  output.document(
      Value::object({{"file", file ? Value(file->path) : Value()}, {"places", std::move(looked)}}));
  return ExitCode::done;
}

Result<ExitCode> trust_config(const Program& program, const Environment& environment,
                              const std::vector<StrangePlace>& places, bool trusted,
                              Output& output) {
  std::string path = "./" + program.name + ".yaml";
  BELAY_CHECK(trust(program, environment, path, trusted));
  output.line(trusted ? "Trusted with its current contents: " + path
                      : "No longer trusted: " + path);
  Value::Array addresses;
  for (const StrangePlace& place : places) {
    addresses.push_back(place.address);
    if (trusted) output.line("  " + one_line(place.address) + " may have " + place.receives);
  }
  output.document(
      Value::object({{"file", path}, {"trusted", trusted}, {"addresses", std::move(addresses)}}));
  return ExitCode::done;
}

}  // namespace belay::cli
