#include "tests/scenario/external_world.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace belay::scenario {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string place_of(const std::string& name) {
  const char* folder = std::getenv("SCENARIO_FOLDER");
  return std::string(folder ? folder : ".") + "/" + name;
}

// Appends the line in a single write, so that neither a kill nor another process can split it.
void add_line(const std::string& name, std::string line) {
  line += "\n";
  int file = ::open(place_of(name).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream file(place_of(name), std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class FileModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    std::vector<std::string> answers = lines_of("model");
    std::size_t asked = lines_of("asked").size();
    add_line("asked", "once");
    co_await stand_still("model");
    if (asked >= answers.size()) {
      co_return error(ErrorCode::invalid, "The script has no answer left for the model.");
    }
    auto answer = parse_json(answers[asked]);
    if (!answer.ok()) co_return std::move(answer).error();
    if (const std::string* failure = (*answer)["fails"].as_string()) {
      co_return error(ErrorCode::unavailable, *failure);
    }
    ModelReply reply;
    const Value& says = (*answer)["says"];
    reply.text = says.as_string() ? *says.as_string() : to_json(says);
    reply.provider = "script";
    reply.method = "script";
    if (auto tokens = (*answer)["tokens"].as_int()) reply.usage = Usage{0, *tokens};
    co_return reply;
  }
};

}  // namespace

int note_run(const std::string& node) {
  add_line("ran", node);
  return static_cast<int>(lines_of("ran").size());
}

Task<Done> stand_still(std::string place) {
  if (fs::exists(place_of("hold-" + place))) add_line("held-" + place, "here");
  while (fs::exists(place_of("hold-" + place))) co_await sleep_for(5ms);
  co_return Done{};
}

void note_call(const std::string& effect, const std::string& key) {
  add_line("calls-" + effect, key);
}

bool was_called(const std::string& effect, const std::string& key) {
  std::vector<std::string> calls = lines_of("calls-" + effect);
  return std::find(calls.begin(), calls.end(), key) != calls.end();
}

Task<Result<Done>> take_message(OutboxMessage message) {
  std::size_t came = lines_of("mail-" + message.topic).size();
  add_line("mail-" + message.topic, message.id);
  co_await stand_still("receiver:" + message.topic);
  if (came < lines_of("fails-" + message.topic).size()) {
    co_return error(ErrorCode::unavailable, "Nobody is at home.");
  }
  co_return Done{};
}

std::shared_ptr<Model> scripted_model() { return std::make_shared<FileModel>(); }

}  // namespace belay::scenario
