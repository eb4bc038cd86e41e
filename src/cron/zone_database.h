#pragma once
// cron/zone_database.h - the time zones of the system's database (the package tzdata).
//
//   ZoneDatabase zones;
//   BELAY_TRY(Zone madrid, zones.find("Europe/Madrid"));
//
// A zone is read from its file once and is kept. A database that was updated is read by a new
// object, as after a restart; zones that were found before keep their old data.
//
// Threading: can be used from any thread.

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "belay/result.h"
#include "cron/zone.h"

namespace belay::cron {

class ZoneDatabase {
 public:
  static constexpr const char* system_folder = "/usr/share/zoneinfo";

  explicit ZoneDatabase(std::filesystem::path folder = system_folder);

  // Returns the zone of a name of the IANA database, such as "Europe/Madrid". "UTC" exists without
  // a database. Fails with `invalid` and similar names if there is no such zone, with `unavailable`
  // if there is no database or a file cannot be read, and with `corrupt` if a file is damaged.
  Result<Zone> find(std::string_view name) const;

 private:
  Result<Zone> read(const std::string& name) const;

  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Zone, std::less<>> found_;  // protected by mutex_
};

}  // namespace belay::cron
