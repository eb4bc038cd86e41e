#pragma once
// tests/crash/receiver_file.h - the side of a fleet's program: receivers, and the pace of its
// calls.
//
// FLEET_RECEIVERS names the folder of the receivers: files in which each call is a line. FLEET_PACE
// multiplies the time of each call.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace belay::crash {

// Returns the value of an environment variable; empty: it is not set.
inline std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

inline std::string receiver_file(const std::string& name) {
  std::string folder = variable("FLEET_RECEIVERS");
  return (folder.empty() ? "." : folder) + "/" + name;
}

// Appends the line in a single write, so that no other process can split it. Spaces fill it up to a
// part of a page: SIGKILL can end a write at the boundary of a page of the file.
inline void append_line(const std::string& name, std::string line) {
  constexpr std::size_t part = 256;
  line.resize((line.size() + part) / part * part - 1, ' ');
  line += '\n';
  std::string path = receiver_file(name);
  int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

inline std::chrono::milliseconds paced(std::chrono::milliseconds time) {
  std::string pace = variable("FLEET_PACE");
  return pace.empty() ? time : time * std::strtol(pace.c_str(), nullptr, 10);
}

}  // namespace belay::crash
