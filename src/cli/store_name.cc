#include "cli/store_name.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "net/egress.h"

namespace belay::cli {
namespace {

constexpr std::string_view kHidden = "***";

// user:PASSWORD@host: the last @ before the path ends the password.
void hide_in_authority(std::string& url, std::size_t begin) {
  std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
  std::size_t at = url.rfind('@', end);
  // A password might contain a slash that is not percent-encoded: hide too much rather than too
  // little.
  std::size_t last = url.rfind('@', std::min(url.find('?', begin), url.size()));
  if (last != std::string::npos && last >= begin) at = last;
  if (at == std::string::npos || at < begin) return;
  std::size_t colon = url.find(':', begin);
  if (colon >= at) return;
  url.replace(colon + 1, at - colon - 1, kHidden);
}

// Hides the values of password=... and sslpassword=... in the query.
void hide_in_options(std::string& url) {
  constexpr std::array<std::string_view, 2> names{"password=", "sslpassword="};
  std::size_t at = url.find('?');
  while (at != std::string::npos && at < url.size()) {
    ++at;
    std::size_t end = std::min(url.find('&', at), url.size());
    for (std::string_view name : names) {
      if (std::string_view(url).substr(at).starts_with(name)) {
        url.replace(at + name.size(), end - at - name.size(), kHidden);
        break;
      }
    }
    at = url.find('&', at);
  }
}

}  // namespace

std::string shown_webhook(const std::string& url) {
  auto target = net::parse_target(url);
  if (!target.ok()) return "";
  return target->origin() + (target->path == "/" ? "" : "/" + std::string(kHidden));
}

std::string shown_store(const std::string& store) {
  std::size_t scheme = store.find("://");
  bool is_url = store.starts_with("postgresql://") || store.starts_with("postgres://");
  bool is_known = store.starts_with("sqlite:") || store == "memory:";
  // The rest of another text can contain a password.
  if (!is_url) return is_known ? store : store.substr(0, store.find(':'));
  std::string url = store;
  hide_in_authority(url, scheme + 3);
  hide_in_options(url);
  return url;
}

}  // namespace belay::cli
