#include "cron/zone_database.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/in_quotes.h"
#include "cron/shown_text.h"
#include "cron/zone_file.h"

namespace belay::cron {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kListedMax = 5'000;  // the database has some 600 names
constexpr std::size_t kSuggestedMax = 3;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool is_name_character(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
         c == '+' || c == '-';
}

// Zones begin with a capital letter. The folder has other files, whose names do not: tables, and
// variants of all zones in the folders posix and right. No valid name leads out of the folder,
// because none has a dot.
bool can_be_zone(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && is_upper(name.front()) &&
         name.back() != '/' && name.find("//") == name.npos &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

// Returns a name without the differences that people overlook.
std::string simplified(std::string_view name) {
  std::string simple(name);
  for (char& c : simple) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '-') c = '_';
  }
  return simple;
}

// Returns the names of all zones, in no order.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  for (; !failed && entry != fs::recursive_directory_iterator() && names.size() < kListedMax;
       entry.increment(failed)) {
    std::error_code unreadable;
    std::string name = entry->path().lexically_relative(folder).string();
    if (entry->is_directory(unreadable)) {
      if (!can_be_zone(name)) entry.disable_recursion_pending();
    } else if (can_be_zone(name)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// Returns the names that are most similar to `name`, which is compared with a complete name and
// with its last part: "madrid" is similar to "Europe/Madrid".
std::vector<std::string> similar_names(std::string_view name, std::vector<std::string> names) {
  const std::string wanted = simplified(name.substr(0, kNameBytesMax));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (std::string& each : names) {
    // The sign of Etc/GMT+2 is the opposite of the one that people mean.
    if (each.find("GMT") != each.npos) continue;
    std::string candidate = simplified(each);
    std::string_view last = std::string_view(candidate).substr(candidate.rfind('/') + 1);
    std::size_t apart = std::min(edit_distance(wanted, candidate), edit_distance(wanted, last));
    if (apart <= (wanted.size() + 1) / 4) near.emplace_back(apart, std::move(each));
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> similar;
  for (auto& [apart, each] : near) {
    if (apart > near.front().first + 1 || similar.size() == kSuggestedMax) break;
    similar.push_back(std::move(each));
  }
  return similar;
}

Error no_database(const fs::path& folder) {
  return error(ErrorCode::unavailable, "Time zone database " + in_quotes(folder.string()) +
                                           " not found. Install the package tzdata, or use UTC.");
}

Error unknown_zone(std::string_view name, const fs::path& folder) {
  std::vector<std::string> names = names_in(folder);
  if (names.empty()) return no_database(folder);
  std::string message = "Unknown time zone " + in_quotes(shown_text(name)) + ". ";
  std::vector<std::string> similar = similar_names(name, std::move(names));
  if (similar.empty()) {
    return error(ErrorCode::invalid,
                 message + "Use a name of the IANA database such as Europe/Madrid, or UTC.");
  }
  message += "Did you mean ";
  for (std::size_t i = 0; i < similar.size(); ++i) {
    if (i > 0) message += i + 1 == similar.size() ? " or " : ", ";
    message += in_quotes(similar[i]);
  }
  return error(ErrorCode::invalid, message + "?");
}

Result<std::string> read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(zone_file_bytes_max + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || !file.eof() || bytes.empty()) {
    return error(ErrorCode::unavailable, "Could not read the time zone file " +
                                             in_quotes(path.string()) +
                                             ". Check its permissions and its size.");
  }
  return bytes;
}

}  // namespace

ZoneDatabase::ZoneDatabase(fs::path folder) : folder_(std::move(folder)) {}

Result<Zone> ZoneDatabase::find(std::string_view name) const {
  if (name == "UTC" || name == "Etc/UTC") return Zone();
  std::lock_guard lock(mutex_);
  if (auto found = found_.find(name); found != found_.end()) return found->second;
  std::error_code failed;
  if (!can_be_zone(name) || !fs::is_regular_file(folder_ / name, failed)) {
    return unknown_zone(name, folder_);
  }
  auto zone = read(std::string(name));
  if (zone.ok()) found_.emplace(name, *zone);
  return zone;
}

Result<Zone> ZoneDatabase::read(const std::string& name) const {
  BELAY_TRY(std::string bytes, read_bytes(folder_ / name));
  auto periods = decode_zone_file(bytes);
  if (!periods.ok()) {
    return error(periods.error().code,
                 "Time zone " + in_quotes(name) + ": " + periods.error().message);
  }
  return Zone(name, *std::move(periods));
}

}  // namespace belay::cron
