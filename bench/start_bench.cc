// Measures the time from the start of the process to the first completed run on a new SQLite file:
// the `belay` program imports a note, then audits its day.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay::bench;

constexpr const char* note =
    R"({"date":"2025-11-21","content":"A calm day. I walked by the river and slept well."})";

struct Taken {
  double clock = 0;  // milliseconds
  double cpu = 0;    // milliseconds of processor time
};

Taken operator+(const Taken& left, const Taken& right) {
  return {left.clock + right.clock, left.cpu + right.cpu};
}

// Runs the program to its end and discards its output.
Taken time_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  double cpu_began = cpu_seconds();
  double began = wall_seconds();
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child) {
    exit_with("Cannot start " + words[0]);
  }
  Taken taken{(wall_seconds() - began) * 1e3, (cpu_seconds() - cpu_began) * 1e3};
  posix_spawn_file_actions_destroy(&files);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) exit_with(words[0] + " did not end well.");
  return taken;
}

std::string program_path(const Options& options, const char* self) {
  if (!options.belay.empty()) return options.belay;
  return std::filesystem::absolute(self).parent_path().parent_path() / "belay";
}

double stripped_megabytes(const std::string& program, const std::string& directory) {
  std::string stripped = directory + "/stripped";
  std::string command = "strip -o '" + stripped + "' '" + program + "'";
  if (std::system(command.c_str()) != 0) return 0;
  return static_cast<double>(std::filesystem::file_size(stripped)) / 1e6;
}

void print(const char* what, const std::vector<Taken>& all) {
  std::vector<double> clock, cpu;
  for (const Taken& each : all) {
    clock.push_back(each.clock);
    cpu.push_back(each.cpu);
  }
  std::printf("| %s | %.1f | %.1f | %.1f |\n", what, median(clock),
              *std::min_element(clock.begin(), clock.end()), median(cpu));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  std::string program = program_path(options, arguments[0]);
  if (!std::filesystem::exists(program))
    exit_with("There is no " + program + "; give --belay=PATH.");
  Workplace place(options.directory);
  std::string notes = place.path + "/notes.jsonl";
  std::ofstream(notes) << note << '\n';
  std::vector<Taken> imports, audits, both;
  double wait_left = options.max_wait;
  Span span;
  for (int i = 0; i < options.rounds + 1; ++i) {
    std::string store = "sqlite:" + place.path + "/store" + std::to_string(i);
    wait_for_quiet(wait_left);
    Taken import = time_of({program, "notes", "import", notes, "--store", store});
    Taken audit =
        time_of({program, "run", "daily-audit", "--date", "2025-11-21", "--store", store});
    if (i == 0) continue;  // not measured: loads the program from the disk
    imports.push_back(import);
    audits.push_back(audit);
    both.push_back(import + audit);
  }
  span.stop();
  std::printf("%s; others' load %.2f\n\n", description().c_str(), span.other_load);
  std::printf(
      "| %d times, after one that does not count | median, ms | least, ms | CPU, ms "
      "|\n|---|---|---|---|\n",
      options.rounds);
  print("`belay notes import` of one note into a new SQLite file", imports);
  print("`belay run daily-audit` of its day, to its end", audits);
  print("both, one process after the other", both);
  std::printf("\n`belay`, stripped: %.1f MB\n", stripped_megabytes(program, place.path));
}
