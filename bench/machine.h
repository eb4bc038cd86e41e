#pragma once
// bench/machine.h - measures time and memory, and the load of other programs on this machine.

#include <cstdint>
#include <string>
#include <vector>

namespace belay::bench {

// Returns the processor time of this process, all its threads and the children that it has waited
// for, in seconds.
double cpu_seconds();
double wall_seconds();

double median(std::vector<double> numbers);
// Returns the quantile `share` (0 to 1) of the numbers.
double quantile(std::vector<double> numbers, double share);
// Returns the resident memory of this process, in bytes.
double resident_bytes();

// Measures, from construction to stop(), the duration and the load of other programs as a share of
// all cores. The load comes from /proc/stat, in hundredths of a second: measure at least a third of
// a second.
class Span {
 public:
  Span();
  void stop();
  double seconds = 0;
  double cpu = 0;         // processor time of this process, in seconds
  double other_load = 0;  // 0 to 1; time stolen by the host counts as load of others

 private:
  double began_ = 0;
  double cpu_began_ = 0;
  std::uint64_t busy_began_ = 0;
};

// Rounds with a higher load of other programs are not counted.
inline constexpr double quiet_load_max = 0.3;

// Waits until other programs use less than a quarter of the machine, at most `seconds_left`; the
// waiting time is subtracted from it.
void wait_for_quiet(double& seconds_left);

// Returns how many times per second 8 KB can be appended to a file in `directory` and synced.
double synced_appends_per_second(const std::string& directory, double seconds);

// Returns processor, cores, kernel and compiler as one line.
std::string description();

}  // namespace belay::bench
