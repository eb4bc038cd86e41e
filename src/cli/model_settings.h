#pragma once
// cli/model_settings.h - reads the settings of models: `--model`, `--model-url`, the keys of the
// providers, and the variables BELAY_MODEL_*. See docs/models.md and docs/configuration.md.

#include "cli/settings.h"

namespace belay::cli {

// The settings without an option. A program that does not bring its own model has them in
// settings.values, by key.
std::vector<ModuleSetting> model_settings();

// Sets `settings.models` from the other members of `settings` and from the environment. Fails with
// `invalid`, with the setting's name, if a value cannot be parsed.
Result<Done> read_model_settings(const Environment& environment, const GlobalFlags& flags,
                                 Settings& settings);

// Opens the model that settings.models names. `own` are the models that the program brings.
Result<std::shared_ptr<Model>> named_model(const Settings& settings,
                                           std::map<std::string, std::shared_ptr<Model>> own,
                                           Clock& clock);

}  // namespace belay::cli
