#pragma once
// cli/model_settings.h - which model the command asks, where, and how: `--model`, `--model-url`,
// the keys, and the variables BELAY_MODEL_*. docs/models.md and docs/configuration.md list them.

#include "cli/settings.h"

namespace belay::cli {

// What has no flag: in every program that does not bring its model, settings.own has them by key.
std::vector<OwnSetting> model_settings();

// `settings.models`, from everything else that `settings` and the environment have. `invalid`, with
// the name of the setting, for what can't be read.
Result<Done> read_model_settings(const Environment& environment, const GlobalFlags& flags,
                                 Settings& settings);

// The model that settings.models names. `own` are those that the program brings.
Result<std::shared_ptr<Model>> named_model(const Settings& settings,
                                           std::map<std::string, std::shared_ptr<Model>> own,
                                           Clock& clock);

}  // namespace belay::cli
