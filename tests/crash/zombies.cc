#include "tests/crash/zombies.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

std::set<std::string> rows_of(const std::string& folder, const std::string& sql) {
  auto rows = rows_behind_its_back(folder, sql);
  if (!rows.ok()) return {};
  return {rows->begin(), rows->end()};
}

// Reads the SQLite file in a folder.
StoreSight sight_of(const std::string& folder) {
  const std::string run = "SELECT lower(hex(run_id)) || ' ' || epoch FROM runs";
  const std::string of_process = " JOIN sessions ON session_number = number WHERE pid = ";
  StoreSight sight;
  sight.all = [folder, run] { return rows_of(folder, run); };
  sight.held = [folder, run, of_process](pid_t process) {
    return rows_of(folder, run + of_process + std::to_string(process) + " AND status = 'running'");
  };
  sight.claims = [folder, of_process](pid_t process) {
    auto count = rows_of(folder, "SELECT count(*) FROM checkpoints" + of_process +
                                     std::to_string(process) + " AND kind = 'claim'");
    std::size_t claims = 0;
    if (count.empty()) return claims;
    const std::string& digits = *count.begin();
    std::from_chars(digits.data(), digits.data() + digits.size(), claims);
    return claims;
  };
  sight.lives = [folder](pid_t process) {
    return !rows_of(folder, "SELECT number FROM sessions WHERE wrote = 1 AND pid = " +
                                std::to_string(process))
                .empty();
  };
  return sight;
}

// Removes the dashes of an id: StoreSight has none.
std::string bare(std::string id) {
  std::erase(id, '-');
  return id;
}

}  // namespace

Zombies::Zombies(const FleetSite& site, const std::string& folder, FleetReport& report)
    : site_(site),
      folder_(folder),
      report_(report),
      sight_(site.store.empty() ? sight_of(folder) : site.sight) {}

void Zombies::stopped(pid_t worker) {
  Zombie& zombie = zombies_[worker];
  zombie.held = sight_.held(worker);
  zombie.has_lease = sight_.lives(worker);
  zombie.is_expired = false;
}

// For a SQLite file, the kernel still holds the stopped process's lock; the session becomes dead
// only if its row has the boot id of an earlier boot. Only sessions that have written are changed:
// another process may delete the row of one that has not.
void Zombies::end_lease(pid_t worker) {
  Zombie& zombie = zombies_[worker];
  if (!zombie.has_lease) return;
  if (site_.store.empty()) {
    auto changed = change_behind_its_back(
        folder_, "UPDATE sessions SET boot_id = zeroblob(16) WHERE wrote = 1 AND pid = " +
                     std::to_string(worker));
    zombie.is_expired = changed.ok() && *changed > 0;
  } else {
    zombie.is_expired = site_.end_lease(worker);
  }
  report_.zombies += zombie.is_expired;
}

std::set<std::string> Zombies::taken_from(pid_t worker) const {
  std::set<std::string> taken;
  auto zombie = zombies_.find(worker);
  if (zombie == zombies_.end() || !zombie->second.is_expired) return taken;
  std::set<std::string> now = sight_.all();
  const std::set<std::string>& held = zombie->second.held;
  if (held.empty() || now.empty()) return taken;
  // The epoch differs now, therefore the owner too.
  std::set_difference(held.begin(), held.end(), now.begin(), now.end(),
                      std::inserter(taken, taken.end()));
  return taken;
}

void Zombies::wakes(pid_t worker) {
  std::set<std::string> taken = taken_from(worker);
  report_.robbed += !taken.empty();
  Zombie& zombie = zombies_[worker];
  for (const std::string& each : taken) zombie.robbed.insert(each.substr(0, each.find(' ')));
  if (!site_.store.empty() || !zombie.is_expired) return;
  (void)change_behind_its_back(
      folder_,
      "UPDATE sessions SET boot_id = (SELECT boot_id FROM sessions WHERE boot_id <> zeroblob(16)"
      " LIMIT 1) WHERE pid = " +
          std::to_string(worker));
}

void Zombies::goes_on(pid_t worker) {
  ++report_.revived;
  zombies_[worker].claims = sight_.claims(worker);
}

void Zombies::ended(pid_t worker, const std::string& said) {
  auto found = zombies_.find(worker);
  if (found == zombies_.end()) return;
  Zombie zombie = std::move(found->second);
  zombies_.erase(found);
  constexpr std::string_view fenced = "belay-test: fenced ";
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(fenced)) continue;
    report_.fenced += zombie.robbed.contains(bare(line.substr(fenced.size())));
  }
  if (zombie.claims) report_.claiming += sight_.claims(worker) > *zombie.claims;
}

}  // namespace belay::crash
