// Diagnoses the configured Redis, for `belay doctor`. No fault of it makes the store unusable.

#include <charconv>

#include "cli/redis_tier.h"
#include "redis/client.h"

namespace belay::cli {
namespace {

using FindingKind = Diagnostic::Kind;

constexpr std::chrono::milliseconds kPatience{1'000};
constexpr int kVersionLeast = 6;
constexpr std::size_t kKeysLookedAt = 1'000;

Diagnostic finding(FindingKind kind, std::string detail, std::string advice = "") {
  return {"redis", kind, std::move(detail), std::move(advice)};
}

// Returns a value of the reply to INFO, which has one "name:value" per line.
std::string value_in(const std::string& info, const std::string& name) {
  std::size_t at = info.find("\n" + name + ":");
  if (at == std::string::npos) return "";
  at += name.size() + 2;
  return info.substr(at, info.find_first_of("\r\n", at) - at);
}

std::uint64_t number_from(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Diagnostic away(const redis::Address& address, std::string trouble) {
  std::string advice =
      "start it, or correct the setting redis (--redis, BELAY_REDIS); without it everything works, "
      "but slower";
  bool is_login =
      trouble.find("password") != std::string::npos || trouble.find("NOAUTH") != std::string::npos;
  // Splits the error into detail and advice. An error that Redis itself returned contains no
  // advice.
  std::size_t end = trouble.rfind("; ");
  if (trouble.starts_with("Redis responded")) end = std::string::npos;
  if (end != std::string::npos) {
    advice = one_line(trouble.substr(end + 2));
    if (advice.ends_with('.')) advice.pop_back();
    advice += "; without it everything works, but slower";
    trouble.resize(end);
  } else if (is_login) {
    advice = std::string("correct it in the setting redis: ") +
             (address.is_tls ? "rediss" : "redis") + "://:PASSWORD@HOST:PORT";
  }
  return finding(FindingKind::warning, address.shown() + ": " + one_line(trouble),
                 std::move(advice));
}

void look_at_server(const std::string& info, std::vector<Diagnostic>& findings) {
  std::string version = value_in(info, "redis_version");
  if (static_cast<int>(number_from(version)) < kVersionLeast) {
    findings.push_back(finding(FindingKind::warning,
                               "its version " + one_line(version) + " is too old",
                               "use Redis 6 or newer"));
  }
  if (value_in(info, "role") == "slave") {
    findings.push_back(finding(FindingKind::warning, "it is a replica, which accepts no writes",
                               "name its primary in the setting redis"));
  }
  std::uint64_t most = number_from(value_in(info, "maxmemory"));
  std::uint64_t used = number_from(value_in(info, "used_memory"));
  if (most > 0 && value_in(info, "maxmemory_policy") == "noeviction" && used / 9 >= most / 10) {
    findings.push_back(finding(FindingKind::warning,
                               "its memory is nearly full, and it evicts nothing (noeviction)",
                               "set its maxmemory-policy to allkeys-lru, or give it more memory"));
  }
}

void look_at_keys(redis::Client& client, const std::string& prefix,
                  std::vector<Diagnostic>& findings) {
  auto page = client.call_and_wait({"SCAN", "0", "COUNT", std::to_string(kKeysLookedAt)});
  if (!page.ok() || page->items.size() != 2) return;
  std::size_t foreign = 0;
  for (const redis::Reply& key : page->items[1].items) {
    if (!key.text.starts_with(prefix)) ++foreign;
  }
  if (foreign == 0) return;
  findings.push_back(finding(
      FindingKind::warning,
      "it also contains keys of other programs: " + std::to_string(foreign) + " of " +
          std::to_string(page->items[1].items.size()) + " inspected",
      "harmless, because keys of Belay begin with " + prefix + "; prefer a separate database"));
}

}  // namespace

std::vector<Diagnostic> diagnose_redis(const Settings& settings) {
  std::vector<Diagnostic> findings;
  if (!settings.redis) return findings;
  redis::ClientOptions options = client_options(*settings.redis);
  options.link.connect_timeout = kPatience;
  options.link.reply_timeout = kPatience;
  std::unique_ptr<Random> random = system_random();
  redis::Client client(std::move(options), *random);
  client.wait_for_first_try(2 * kPatience);  // long enough to report which step timed out
  if (!client.is_up()) {
    findings.push_back(away(settings.redis->address, client.trouble()));
    return findings;
  }
  auto info = client.call_and_wait({"INFO"});
  if (info.ok()) look_at_server("\n" + info->text, findings);
  look_at_keys(client, settings.redis->prefix, findings);
  if (findings.empty()) {
    findings.push_back(
        finding(FindingKind::good,
                settings.redis->address.shown() + " responds; used for " + settings.redis->uses()));
  }
  return findings;
}

}  // namespace belay::cli
