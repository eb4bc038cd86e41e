// Parses lists of models with their servers, such as
// "ollama:llama3.2, openai:gpt-5@https://gateway.example/v1".

#include <algorithm>
#include <array>

#include "base/trimmed.h"
#include "belay/models.h"
#include "models/json_sanitizer.h"

namespace belay {
namespace {

constexpr std::string_view ollama_port = "11434";

struct Provider {
  std::string_view name;
  std::string_view url;
};
constexpr std::array<Provider, 3> providers = {
    Provider{"ollama", "http://127.0.0.1:11434"},
    Provider{"openai", "https://api.openai.com/v1"},
    Provider{"anthropic", "https://api.anthropic.com"},
};

const Provider* provider_named(std::string_view name) {
  auto found = std::find_if(providers.begin(), providers.end(),
                            [&](const Provider& one) { return one.name == name; });
  return found == providers.end() ? nullptr : &*found;
}

std::string in_quotes(std::string_view text) { return "\"" + models::quotable(text, 100) + "\""; }

Error wrong(std::string message) { return error(ErrorCode::invalid, std::move(message)); }

// Checks a URL: http or https. Returns it without a trailing slash.
Result<std::string> sound_url(std::string_view text) {
  std::string_view scheme = text.starts_with("https://") ? "https://" : "http://";
  std::string_view rest = text;
  bool has_scheme = text.starts_with(scheme);
  if (has_scheme) rest.remove_prefix(scheme.size());
  bool is_sound = has_scheme && !rest.empty() && !rest.starts_with('/') &&
                  rest.find_first_of("?# \t\r\n") == rest.npos;
  if (!is_sound) {
    return wrong(
        "The address " + in_quotes(text) +
        " of a model is invalid. Write http://HOST[:PORT][/PATH], or the same with https.");
  }
  if (rest.find('@') != rest.npos) {
    return wrong(
        "The address of a model contains a name or a password. Provide the key with its own "
        "setting.");
  }
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

// Converts OLLAMA_HOST as Ollama's own client does: scheme and port are optional, and an address
// that a server listens on for all interfaces (0.0.0.0) means this machine.
Result<std::string> ollama_url(std::string_view host) {
  std::string url(trimmed(host));
  if (url.find("://") == url.npos) url = "http://" + url;
  std::size_t begin = url.find("://") + 3;
  std::size_t end = std::min(url.find('/', begin), url.size());
  std::string name = url.substr(begin, end - begin);
  std::size_t bracket = name.rfind(']');
  bool has_port = name.find(':', bracket == name.npos ? 0 : bracket) != name.npos;
  if (!has_port && url.starts_with("http://")) {
    name += ":" + std::string(ollama_port);
  }
  if (name.starts_with("0.0.0.0:")) name.replace(0, 7, "127.0.0.1");
  if (name.starts_with("[::]:")) name.replace(0, 4, "[::1]");
  return sound_url(url.substr(0, begin) + name + url.substr(end));
}

Result<ModelName> read_name(std::string_view text, const ModelSettings& settings) {
  ModelName name;
  std::size_t at = std::min(text.find("@http://"), text.find("@https://"));
  if (at != text.npos) {
    BELAY_TRY(name.url, sound_url(text.substr(at + 1)));
    text = text.substr(0, at);
  }
  std::size_t colon = text.find(':');
  name.provider = text.substr(0, colon);
  if (colon != text.npos) name.name = text.substr(colon + 1);
  if (colon == text.npos && settings.local_models.count(name.provider) > 0) {
    if (name.url.empty()) return name;
    return wrong("The model " + in_quotes(name.provider) +
                 " has no server, and therefore no address.");
  }
  bool is_sound = !name.name.empty() && name.name.size() <= 200 &&
                  std::none_of(name.name.begin(), name.name.end(),
                               [](char c) { return static_cast<unsigned char>(c) <= 0x20; });
  if (provider_named(name.provider) && is_sound) return name;
  std::string own;
  for (const auto& [known, model] : settings.local_models) own += known + ", ";
  return wrong("Unknown model " + in_quotes(text) + ". Name one as " + own +
               "ollama:NAME, openai:NAME or anthropic:NAME.");
}

}  // namespace

Result<std::vector<ModelName>> parse_model_names(const ModelSettings& settings) {
  std::vector<ModelName> names;
  std::string_view rest = settings.models;
  while (!rest.empty()) {
    std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    BELAY_TRY(ModelName name, read_name(one, settings));
    names.push_back(std::move(name));
  }
  if (names.empty()) {
    return wrong("Missing model. Name one as ollama:NAME, openai:NAME or anthropic:NAME.");
  }
  std::string_view of_url;  // the provider to which settings.url applies
  for (ModelName& name : names) {
    if (name.name.empty() || !name.url.empty()) continue;
    if (!settings.url.empty()) {
      if (!of_url.empty() && of_url != name.provider) {
        return wrong(
            "One address is set for models of several providers. Add the address to each model: "
            "PROVIDER:NAME@URL.");
      }
      of_url = name.provider;
      BELAY_TRY(name.url, sound_url(trimmed(settings.url)));
    } else if (name.provider == "ollama" && !trimmed(settings.ollama_host).empty()) {
      BELAY_TRY(name.url, ollama_url(settings.ollama_host));
    } else {
      name.url = provider_named(name.provider)->url;
    }
  }
  return names;
}

}  // namespace belay
