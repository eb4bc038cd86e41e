#pragma once
// agents/research/analysis/request_options.h - the options of `research analyze`.

#include <string>
#include <vector>

#include "agents/research/analysis/analysis_state.h"
#include "belay/command.h"
#include "belay/module.h"

namespace belay::research {

inline constexpr const char* kDataSetting = "research_data";
// Of the bundled data: in an installation, and in the source tree.
inline constexpr const char* kBundledPlaces[] = {"share/belay/research", "agents/research/data"};

// The process that reads the files of an order. Without --data, a worker reads the folder of its
// settings: it can be on another machine.
enum class OrderReader { this_process, worker };

// Options of an order for one or more companies.
class RequestOptions {
 public:
  void declare(CommandWords& words);
  // Returns the order, without a ticker; data folders are absolute. Fails with `invalid`, naming
  // the option.
  Result<AnalysisRequest> request(const ModuleSettings& settings,
                                  OrderReader reader = OrderReader::this_process) const;

 private:
  std::vector<std::string> peers_;
  std::vector<std::string> only_;
  std::string as_of_;
  std::vector<std::string> data_;
  std::vector<std::string> ciks_;
  std::vector<std::string> constants_;
  bool yes_ = false;
  bool no_checkpoints_ = false;
};

// Returns the folder with the bundled data: that of the setting, or one of kBundledPlaces
// next to the program. Empty if neither exists.
std::string bundled_data_folder(const ModuleSettings& settings);

}  // namespace belay::research
