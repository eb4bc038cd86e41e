#include "http/compression.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "http/ascii.h"

namespace belay::http {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;  // gzip header and trailer instead of zlib's
constexpr int kLevel = 1;              // runs on the loop's thread: fast rather than small
constexpr int kMemoryLevel = 8;
constexpr std::size_t kBytesMin = 1024;  // a smaller body fits into one packet anyway

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

// Calls `visit` for each element of a comma-separated list.
template <typename Visit>
void for_each_element(std::string_view list, Visit visit) {
  while (!list.empty()) {
    std::string_view element = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), element.size() + 1));
    visit(trimmed(element));
  }
}

// True if the weight is zero, such as "gzip;q=0".
bool is_refused(std::string_view parameters) {
  std::size_t weight = parameters.find("q=");
  if (weight == parameters.npos) return false;
  std::string_view value = trimmed(parameters.substr(weight + 2));
  return value.starts_with('0') && value.find_first_of("123456789") == value.npos;
}

}  // namespace

struct Inflater::Stream {
  z_stream state{};
  bool ready = false;
  bool at_end = true;
};

Inflater::Inflater(std::size_t bytes_max)
    : bytes_max_(bytes_max), stream_(std::make_unique<Stream>()) {
  stream_->ready = inflateInit2(&stream_->state, kGzip) == Z_OK;
}

Inflater::~Inflater() {
  if (stream_->ready) inflateEnd(&stream_->state);
}

Inflater::Outcome Inflater::add(std::string_view piece, std::string& to) {
  if (!stream_->ready) return Outcome::corrupt;
  z_stream& state = stream_->state;
  state.next_in = bytes_of(piece);
  state.avail_in = static_cast<uInt>(piece.size());
  std::array<Bytef, 16 * 1024> buffer;
  while (state.avail_in > 0 || state.avail_out == 0) {
    if (stream_->at_end && state.avail_in > 0) {  // another gzip member follows
      if (inflateReset(&state) != Z_OK) return Outcome::corrupt;
      stream_->at_end = false;
    }
    state.next_out = buffer.data();
    state.avail_out = static_cast<uInt>(buffer.size());
    int outcome = inflate(&state, Z_NO_FLUSH);
    std::size_t made = buffer.size() - state.avail_out;
    if (made > bytes_max_ - to.size()) return Outcome::too_large;
    to.append(reinterpret_cast<const char*>(buffer.data()), made);
    if (outcome == Z_STREAM_END) {
      stream_->at_end = true;
      if (state.avail_in == 0) break;
    } else if (outcome == Z_BUF_ERROR) {
      break;  // needs more input
    } else if (outcome != Z_OK) {
      return Outcome::corrupt;
    }
  }
  return Outcome::fine;
}

bool Inflater::at_end() const { return stream_->at_end; }

namespace {

// Compresses the body to one gzip member.
std::optional<std::string> deflated(std::string_view body) {
  z_stream state{};
  if (deflateInit2(&state, kLevel, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(body.size(), '\0');
  state.next_in = bytes_of(body);
  state.avail_in = static_cast<uInt>(body.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  int outcome = deflate(&state, Z_FINISH);
  packed.resize(packed.size() - state.avail_out);
  deflateEnd(&state);
  if (outcome != Z_STREAM_END) return std::nullopt;
  return packed;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  std::optional<bool> named;
  bool any = false;
  for_each_element(accept_encoding, [&](std::string_view element) {
    std::size_t semicolon = std::min(element.find(';'), element.size());
    std::string_view coding = trimmed(element.substr(0, semicolon));
    bool refused = is_refused(element.substr(semicolon));
    if (equal_letters(coding, "gzip") || equal_letters(coding, "x-gzip")) named = !refused;
    if (coding == "*") any = !refused;
  });
  return named.value_or(any);
}

bool is_compressible(const Response& response) {
  if (response.body.size() < kBytesMin) return false;
  const std::vector<Header>& headers = response.headers;
  if (find_header(headers, "Content-Encoding") || find_header(headers, "Content-Range")) {
    return false;
  }
  bool is_fixed = false;
  for (const Header& header : headers) {
    if (!equal_letters(header.name, "Cache-Control")) continue;
    for_each_element(header.value, [&](std::string_view element) {
      if (equal_letters(element, "no-transform")) is_fixed = true;
    });
  }
  const std::string* named = find_header(headers, "Content-Type");
  if (is_fixed || !named) return false;
  std::string_view type = trimmed(std::string_view(*named).substr(0, named->find(';')));
  auto begins = [&](std::string_view with) {
    return equal_letters(type.substr(0, with.size()), with);
  };
  auto ends = [&](std::string_view with) {
    return type.size() >= with.size() &&
           equal_letters(type.substr(type.size() - with.size()), with);
  };
  return begins("text/") || ends("/json") || ends("+json") || ends("/javascript") || ends("+xml") ||
         ends("/xml") || ends("/x-ndjson");
}

void add_vary(Response& response) {
  for (const Header& header : response.headers) {
    if (!equal_letters(header.name, "Vary")) continue;
    bool said = false;
    for_each_element(header.value, [&](std::string_view element) {
      if (element == "*" || equal_letters(element, "Accept-Encoding")) said = true;
    });
    if (said) return;
  }
  response.headers.push_back({"Vary", "Accept-Encoding"});
}

void compress(Response& response) {
  std::optional<std::string> packed = deflated(response.body);
  if (!packed) return;
  response.body = std::move(*packed);
  response.headers.push_back({"Content-Encoding", "gzip"});
  // A strong tag identifies the uncompressed bytes: make it weak.
  for (Header& header : response.headers) {
    if (equal_letters(header.name, "ETag") && header.value.starts_with('"')) {
      header.value.insert(0, "W/");
    }
  }
}

}  // namespace belay::http
