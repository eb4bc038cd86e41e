#include "bench/machine.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

namespace belay::bench {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns the ticks since boot in which a core was busy or its time was stolen by the host, over
// all cores.
std::uint64_t busy_ticks() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, io_wait = 0;
  std::uint64_t interrupts = 0, soft_interrupts = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> io_wait >> interrupts >> soft_interrupts >>
      steal;
  return user + nice + system + interrupts + soft_interrupts + steal;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

double cpu_seconds() {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  double of_children =
      static_cast<double>(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
      static_cast<double>(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1e-6;
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID) + of_children;
}
double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  std::size_t middle = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[middle];
  return (numbers[middle - 1] + numbers[middle]) / 2;
}

double quantile(std::vector<double> numbers, double share) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  auto at = static_cast<std::size_t>(share * static_cast<double>(numbers.size() - 1));
  return numbers[at];
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Span::Span() : began_(wall_seconds()), cpu_began_(cpu_seconds()), busy_began_(busy_ticks()) {}

void Span::stop() {
  seconds = wall_seconds() - began_;
  cpu = cpu_seconds() - cpu_began_;
  double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  double busy = static_cast<double>(busy_ticks() - busy_began_) / ticks_per_second;
  double cores = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  other_load = std::clamp((busy - cpu) / (seconds * cores), 0.0, 1.0);
}

void wait_for_quiet(double& seconds_left) {
  while (seconds_left > 0) {
    Span look;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    look.stop();
    if (look.other_load < 0.25) return;
    seconds_left -= look.seconds;
  }
}

double synced_appends_per_second(const std::string& directory, double seconds) {
  std::string path = directory + "/appended";
  int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  const std::string block(8'192, 'x');
  double began = wall_seconds();
  int appended = 0;
  while (wall_seconds() - began < seconds) {
    if (write(file, block.data(), block.size()) < 0 || fdatasync(file) != 0) break;
    ++appended;
  }
  double taken = wall_seconds() - began;
  close(file);
  unlink(path.c_str());
  return appended / taken;
}

std::string description() {
  utsname system{};
  uname(&system);
  std::ostringstream line;
  line << processor_name() << ", " << std::thread::hardware_concurrency() << " cores, "
       << system.sysname << ' ' << system.release << ", compiler " << __VERSION__;
  return line.str();
}

}  // namespace belay::bench
