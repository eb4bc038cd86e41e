#pragma once
// bench/machine.h - the machine that a benchmark runs on, and how much of it others use meanwhile.

#include <cstdint>
#include <string>
#include <vector>

namespace belay::bench {

// Processor time of this process, all its threads and the children that it waited for, in seconds.
double cpu_seconds();
double wall_seconds();

double median(std::vector<double> numbers);
// The number that a share of them (0 to 1) does not exceed.
double quantile(std::vector<double> numbers, double share);
// Memory of this process that is in use, in bytes.
double resident_bytes();

// From construction to stop(): how long, and how busy the machine was with other things, as a share
// of all its cores. From /proc/stat, in hundredths of a second: measure a third of a second at
// least.
class Span {
 public:
  Span();
  void stop();
  double seconds = 0;
  double cpu = 0;         // of this process, seconds
  double other_load = 0;  // 0 to 1; steal by the host counts as others' work

 private:
  double began_ = 0;
  double cpu_began_ = 0;
  std::uint64_t busy_began_ = 0;
};

// Rounds during which others used more than this do not count.
inline constexpr double quiet_load_max = 0.3;

// Waits for others to use less than a quarter of the machine; gives up when `seconds_left`, which
// it takes the waiting from, is used up.
void wait_for_quiet(double& seconds_left);

// How many times a second 8 KB can be appended to a file in `directory` and made durable.
double synced_appends_per_second(const std::string& directory, double seconds);

// Processor, cores, kernel, compiler: one line.
std::string description();

}  // namespace belay::bench
