#include "server/response_cache.h"

namespace belay::server {
namespace {

// Room for the responses of some thousands of runs.
constexpr std::size_t kBytesMax = 4 << 20;
constexpr std::size_t kAnswerBytesMax = 64 << 10;

}  // namespace

http::Response copy_of(const http::Response& response) {
  http::Response copy;
  copy.status = response.status;
  copy.headers = response.headers;
  copy.body = response.body;
  return copy;
}

const http::Response* ResponseCache::find(std::uint64_t version, std::string_view address) {
  if (version_ != version) return nullptr;
  auto found = kept_.find(address);
  return found == kept_.end() ? nullptr : &found->second;
}

void ResponseCache::keep(std::uint64_t version, std::string address,
                         const http::Response& response) {
  if (version_ != version) start_at(version);
  std::size_t bytes = address.size() + response.body.size();
  if (response.status != 200 || response.stream || bytes > kAnswerBytesMax) return;
  if (bytes_ + bytes > kBytesMax) start_at(version);
  bytes_ += bytes;
  kept_.insert_or_assign(std::move(address), copy_of(response));
}

void ResponseCache::start_at(std::uint64_t version) {
  version_ = version;
  kept_.clear();
  bytes_ = 0;
}

}  // namespace belay::server
