#include "cli/api_keys.h"

#include <algorithm>

#include "cli/key_file.h"
#include "cli/output.h"

namespace belay::cli {
namespace {

using server::ApiKey;
using server::Permission;

constexpr std::size_t kTokenMin = 16;
constexpr std::size_t kTokenMax = 200;

std::optional<Permission> permission_named(std::string_view name) {
  for (Permission each :
       {Permission::read, Permission::run, Permission::decide, Permission::administer}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

bool is_token(std::string_view text) {
  constexpr std::string_view kOther = "._-~+/=";
  bool is_plain = std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOther.find(c) != kOther.npos;
  });
  return is_plain && text.size() >= kTokenMin && text.size() <= kTokenMax;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

Result<ApiKey> key_in(std::string_view line) {
  std::vector<std::string_view> words = words_of(line);
  if (words.size() != 3 && words.size() != 4) {
    return error(ErrorCode::invalid,
                 "is invalid: expected NAME PERMISSION TOKEN, or NAME PERMISSION TOKEN ROLE,ROLE");
  }
  ApiKey key;
  key.name = words[0];
  BELAY_CHECK(check_name("name", key.name));
  auto permission = permission_named(words[1]);
  if (!permission) {
    return error(ErrorCode::invalid,
                 "has an invalid permission: expected read, run, decide or administer");
  }
  key.permission = *permission;
  if (!is_token(words[2])) {
    return error(ErrorCode::invalid,
                 "has an invalid token: expected 16 to 200 letters, digits and ._-~+/=");
  }
  key.token = sha256(words[2]);
  if (words.size() == 4) {
    auto roles = roles_from("the fourth word", words[3]);
    if (!roles.ok()) return error(ErrorCode::invalid, "has invalid roles");
    key.roles = *std::move(roles);
  }
  return key;
}

}  // namespace

Result<std::vector<ApiKey>> api_keys_in(std::string_view text) {
  std::vector<ApiKey> keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    auto key = key_in(line);
    std::string why = key.ok() ? "" : key.error().message;
    if (key.ok() && std::any_of(keys.begin(), keys.end(),
                                [&](const ApiKey& each) { return each.token == key->token; })) {
      why = "repeats the token of an earlier line";
    }
    if (!why.empty()) {
      return error(ErrorCode::invalid, "Line " + std::to_string(number) + " " + why + ".");
    }
    keys.push_back(*std::move(key));
  }
  if (keys.empty()) return error(ErrorCode::invalid, "It contains no keys.");
  return keys;
}

Result<std::vector<ApiKey>> api_keys_for(const std::optional<std::string>& file,
                                         const std::string& address) {
  bool is_loopback = address.starts_with("127.") || address == "::1";
  if (!file && !is_loopback) {
    return error(ErrorCode::invalid, "Other machines can reach " + address +
                                         " without a key. Set --api-keys, or listen on 127.0.0.1.");
  }
  if (!file) return std::vector<ApiKey>();
  BELAY_TRY(std::string text, read_key_file(*file, "--api-keys"));
  auto keys = api_keys_in(text);
  std::fill(text.begin(), text.end(), '\0');
  if (keys.ok()) return keys;
  return error(ErrorCode::invalid,
               "Cannot use API key file \"" + one_line(*file) + "\": " + keys.error().message);
}

}  // namespace belay::cli
