#pragma once
// tests/cli/belay_process.h - executes the real program as a child process.

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::cli::tests {

using Words = std::vector<std::string>;

// A directory that the destructor removes.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct Outcome {
  int code = -1;  // 128 + the signal number if a signal ended it
  std::string out;
  std::string err;

  // Returns the output of --json; null if it is not valid JSON.
  Value json() const { return parse_json(out).value_or(Value()); }
  // Returns whether stderr is one line and contains each of `parts`.
  bool says(const Words& parts) const;
};

struct Setting {
  // In addition to HOME, PATH and the sanitizers' variables.
  std::map<std::string, std::string> environment;
  std::string input;   // sent to stdin
  std::string binary;  // empty: belay itself
  std::string folder;  // working directory; empty: that of the test
  // Stdout and stderr are one terminal; everything is in `out`.
  bool terminal = false;
  bool as_nobody = false;   // if the test runs as root: as user nobody
  long file_bytes_max = 0;  // maximum size of a file; 0: no limit
};

// A running belay process. The destructor kills it.
class Belay {
 public:
  Belay(const Words& words, const Setting& setting);
  ~Belay();
  Belay(const Belay&) = delete;
  Belay& operator=(const Belay&) = delete;

  pid_t process() const { return process_; }
  void send(int signal) const;
  // Reads until stderr contains `text`. Returns false if the process ended or a timeout passed
  // without it.
  bool waits_to_say(const std::string& text);
  // Returns the part of stderr that has been read.
  const std::string& said() const { return outcome_.err; }
  // The same for stdout.
  bool waits_to_show(const std::string& text);
  // Reads to the end of the output. Kills the process if it does not end within four minutes.
  Outcome finish();

 private:
  bool read_some(int timeout_ms);

  pid_t process_ = -1;
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

Outcome run_belay(const Words& words, const Setting& setting = {});

// The fixture of one test: a folder with a store that every command uses. If
// BELAY_TEST_THROUGH_SERVER is in the environment of the tests, a server opens that store at the
// first run(), and every command is sent to it.
class World {
 public:
  World();
  Outcome run(const Words& words) const;
  Outcome run(const Words& words, const std::string& input) const;
  // Returns the lines that complete the last of `words`. The program ends itself when a completion
  // takes too long, which happens on a machine with other work; it is then called again.
  Words completed(Words words) const;
  // Writes a file into the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  // Returns the store's contents as text that changes with every change of a row.
  std::string store_contents() const;
  std::string store_path() const { return folder.file("belay.db"); }

  TempFolder folder;
  mutable Setting setting;

 private:
  void serve() const;

  mutable std::unique_ptr<Belay> server_;
};

// Returns one line of an import.
std::string note_line(const std::string& date, const std::string& content);
// Notes of a day that the built-in rules rate as severe, without words of a crisis; and of one with
// such words.
std::string hard_day();
std::string crisis_day();

}  // namespace belay::cli::tests
