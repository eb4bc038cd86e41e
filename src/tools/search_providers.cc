// The services that web_search uses: the requests, and the results in their responses.

#include <algorithm>

#include "base/characters.h"
#include "base/percent_encoding.h"
#include "base/text_in.h"
#include "belay/tools.h"
#include "net/egress.h"
#include "tools/page_text.h"

namespace belay {
namespace tools {
namespace {

constexpr std::size_t search_response_bytes_max = 4 * 1024 * 1024;
constexpr int brave_results_max = 20;

struct ProviderFault {
  std::string_view provider;
  std::string_view reason;
};

Error provider_error(ErrorCode code, const ProviderFault& fault) {
  return error(
      code, "The search provider " + std::string(fault.provider) + " " + std::string(fault.reason));
}

// The error of a status. The response is never repeated.
Error status_error(std::string_view provider, int status, std::string_view refused) {
  std::string shown = " (status " + std::to_string(status) + ").";
  if (status == 429) {
    return provider_error(ErrorCode::unavailable,
                          {provider, "received too many requests" + shown + " Try again later."});
  }
  if (status == 408 || status >= 500) {
    return provider_error(ErrorCode::unavailable,
                          {provider, "cannot answer now" + shown + " Try again later."});
  }
  if (status == 401 || status == 403) {
    return provider_error(ErrorCode::forbidden,
                          {provider, "refused the request" + shown + " " + std::string(refused)});
  }
  return provider_error(ErrorCode::invalid, {provider, "did not accept the request" + shown});
}

// Sends the request to its own host only.
Task<Result<Value>> json_of(std::string_view provider, HttpCall call, HttpAccess& http,
                            std::string host, std::string_view refused) {
  std::vector<std::string> hosts{std::move(host)};
  BELAY_CO_TRY(auto own, http.narrowed(std::move(hosts)));
  call.headers.push_back({"Accept", "application/json"});
  call.body_bytes_max = search_response_bytes_max;
  BELAY_CO_TRY(HttpReply reply, co_await own->send(std::move(call)));
  if (reply.status != 200) co_return status_error(provider, reply.status, refused);
  auto value = parse_json(reply.body);
  if (value.ok() && value->as_object()) co_return value;
  ProviderFault fault{provider, "did not return a JSON object. Check its URL."};
  co_return provider_error(ErrorCode::invalid, fault);
}

// Returns the first `limit` elements of the list that have a URL; others, of any kind, are ignored.
std::vector<SearchResult> results_of(const Value& list, std::string_view snippet, int limit) {
  std::vector<SearchResult> results;
  const Value::Array* items = list.as_array();
  if (!items) return results;
  for (const Value& item : *items) {
    if (static_cast<int>(results.size()) == limit) break;
    SearchResult result{text_in(item, "title"), text_in(item, "url"), text_in(item, snippet)};
    if (!result.url.empty()) results.push_back(std::move(result));
  }
  return results;
}

class SearxngProvider final : public SearchProvider {
 public:
  explicit SearxngProvider(net::Target server) : server_(std::move(server)) {
    if (server_.path.ends_with('/')) server_.path.pop_back();
  }

  std::string_view name() const override { return "SearXNG"; }

  Task<Result<std::vector<SearchResult>>> search(std::string query, int limit,
                                                 HttpAccess& http) override {
    HttpCall call;
    call.url = server_.url() + "/search?q=" + percent_encoded(query) + "&format=json";
    BELAY_CO_TRY(
        Value response,
        co_await json_of(name(), std::move(call), http, server_.host,
                         "Permit the format \"json\" in its settings, under search.formats."));
    if (!response["results"].as_array()) {
      ProviderFault fault{name(), "returned JSON without a list of results. Check its URL."};
      co_return provider_error(ErrorCode::invalid, fault);
    }
    co_return results_of(response["results"], "content", limit);
  }

 private:
  net::Target server_;
};

class BraveProvider final : public SearchProvider {
 public:
  BraveProvider(std::string key, net::Target api) : key_(std::move(key)), api_(std::move(api)) {}

  std::string_view name() const override { return "Brave"; }

  Task<Result<std::vector<SearchResult>>> search(std::string query, int limit,
                                                 HttpAccess& http) override {
    HttpCall call;
    int count = std::clamp(limit, 1, brave_results_max);
    call.url = api_.url() + "?q=" + percent_encoded(query) + "&count=" + std::to_string(count) +
               "&text_decorations=false";
    call.headers = {{"X-Subscription-Token", key_}};
    BELAY_CO_TRY(Value response,
                 co_await json_of(name(), std::move(call), http, api_.host, "Check its key."));
    // A response without web results has no member "web".
    if (!response["web"].is_null() && !response["web"]["results"].as_array()) {
      ProviderFault fault{name(), "returned JSON without a list of results."};
      co_return provider_error(ErrorCode::invalid, fault);
    }
    auto results = results_of(response["web"]["results"], "description", limit);
    std::erase_if(results, [this](const SearchResult& result) { return has_key(result); });
    co_return results;
  }

 private:
  // A server can repeat the key in its response.
  bool has_key(const SearchResult& result) const {
    auto contains = [this](const std::string& text) { return text.find(key_) != text.npos; };
    return contains(result.url) || contains(result.title) || contains(result.snippet) ||
           contains(line_of_html(result.title)) || contains(line_of_html(result.snippet));
  }

  const std::string key_;
  const net::Target api_;
};

Result<net::Target> provider_url(const std::string& url) {
  BELAY_TRY(net::Target target, net::parse_target(url));
  if (target.path.find('?') == std::string::npos) return target;
  return error(ErrorCode::invalid, "The URL of a search provider must have no query. Remove it.");
}

}  // namespace
}  // namespace tools

Result<std::shared_ptr<SearchProvider>> searxng_provider(std::string url) {
  BELAY_TRY(net::Target server, tools::provider_url(url));
  return std::shared_ptr<SearchProvider>(
      std::make_shared<tools::SearxngProvider>(std::move(server)));
}

Result<std::shared_ptr<SearchProvider>> brave_provider(std::string key, std::string url) {
  BELAY_TRY(net::Target api, tools::provider_url(url));
  auto is_key_character = [](char c) { return c > 0x20 && c < 0x7f; };
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_key_character)) {
    return error(ErrorCode::invalid,
                 "The key of Brave Search must be printable ASCII without spaces. Correct it.");
  }
  return std::shared_ptr<SearchProvider>(
      std::make_shared<tools::BraveProvider>(std::move(key), std::move(api)));
}

}  // namespace belay
