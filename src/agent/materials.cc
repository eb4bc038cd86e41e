#include "agent/materials.h"

namespace belay::agents {
namespace {

std::string digest_of(std::string_view text) { return to_hex(sha256(text)); }

std::string limits_text(const AgentOptions& options) {
  Value::Array limits{options.steps_max, options.tokens_max,
                      static_cast<std::uint64_t>(options.calls_max),
                      static_cast<std::uint64_t>(options.result_bytes_max)};
  limits.push_back(options.max_output_tokens ? Value(*options.max_output_tokens) : Value());
  limits.push_back(options.temperature ? Value(*options.temperature) : Value());
  return to_json(Value(std::move(limits)));
}

}  // namespace

// Only digests: prompts can contain texts that must not be displayed.
std::map<std::string, std::string> materials_of(const AgentOptions& options,
                                                const std::vector<ToolDefinition>& tools) {
  std::map<std::string, std::string> materials;
  materials.emplace("prompt", digest_of(options.prompt));
  materials.emplace("model", options.model);
  materials.emplace("policy", digest_of(limits_text(options)));
  for (const ToolDefinition& tool : tools) {
    materials.emplace("tool " + tool.name,
                      digest_of(tool.description + "\n" + to_json(tool.parameters)));
  }
  return materials;
}

}  // namespace belay::agents
