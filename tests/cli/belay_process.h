#pragma once
// tests/cli/belay_process.h - the real program as a child process, with an environment of its own.

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::cli::tests {

using Words = std::vector<std::string>;

// A directory that goes with the test.
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
  int code = -1;  // 128 + the signal, when one ended it
  std::string out;
  std::string err;

  // What --json printed; null when it is no JSON.
  Value json() const { return parse_json(out).value_or(Value()); }
  // Whether stderr is one line, and holds each of `parts`.
  bool says(const Words& parts) const;
};

struct Setting {
  std::map<std::string, std::string> environment;  // beside HOME, PATH and the sanitizers' own
  std::string input;                               // on stdin
  std::string binary;                              // empty: belay itself
  std::string folder;                              // working directory; empty: that of the test
  bool terminal = false;                           // stdout and stderr are one; all is in `out`
  bool as_nobody = false;                          // under root: without root's rights
  long file_bytes_max = 0;                         // no file may grow beyond; 0: no limit
};

// A belay that runs. The destructor kills it.
class Belay {
 public:
  Belay(const Words& words, const Setting& setting);
  ~Belay();
  Belay(const Belay&) = delete;
  Belay& operator=(const Belay&) = delete;

  pid_t process() const { return process_; }
  void send(int signal) const;
  // Reads until stderr holds `text`; false when it ended, or took too long, without saying so.
  bool waits_to_say(const std::string& text);
  // What has been read of stderr.
  const std::string& said() const { return outcome_.err; }
  // The same of what it prints.
  bool waits_to_show(const std::string& text);
  // Reads to the end of the output. Kills the process if it does not end within a minute.
  Outcome finish();

 private:
  bool read_some(int timeout_ms);

  pid_t process_ = -1;
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

Outcome run_belay(const Words& words, const Setting& setting = {});

// A world for one test: a folder, and a store in it that every command uses. With
// BELAY_TEST_THROUGH_SERVER in the tests' environment, a server has that store from the first run()
// on, and every command asks it.
class World {
 public:
  World();
  Outcome run(const Words& words) const;
  Outcome run(const Words& words, const std::string& input) const;
  // Writes a file into the folder, and says where it is.
  std::string write(const std::string& name, const std::string& text) const;
  // What the store holds, as text that changes whenever a row does.
  std::string store_contents() const;
  std::string store_path() const { return folder.file("belay.db"); }

  TempFolder folder;
  mutable Setting setting;

 private:
  void serve() const;

  mutable std::unique_ptr<Belay> server_;
};

// One line of an import.
std::string note_line(const std::string& date, const std::string& content);
// A day that the built-in rules take for grave, without a word of crisis; and one with.
std::string hard_day();
std::string crisis_day();

}  // namespace belay::cli::tests
