// A program with the commands and settings of the fetch, for fetch_command_test.cc.

#include "agents/research/edgar/fetch_command.h"
#include "belay/main.h"

int main(int argc, char** argv) {
  belay::Module module;
  module.name = "edgar";
  module.settings = belay::research::edgar_settings();
  module.commands = {{.path = {"research"}, .line = "Fetch filings"}};
  for (auto& command : belay::research::fetch_commands()) {
    module.commands.push_back(std::move(command));
  }
  std::vector<belay::Module> modules;
  modules.push_back(std::move(module));
  return belay::main(argc, argv, {.about = "edgar - a test program"}, std::move(modules));
}
