#pragma once
// models/model_opener.h - opens models by their names. The models of one server share its guard,
// and all models that are reached in the same way share one client.

#include <map>
#include <memory>
#include <string>

#include "models/http_model.h"
#include "models/model_list.h"

namespace belay::models {

class ModelOpener {
 public:
  // The clock must outlive it and the models.
  ModelOpener(ModelSettings settings, Clock& clock)
      : settings_(std::move(settings)), clock_(clock) {}

  const ModelSettings& settings() const { return settings_; }

  // Sends nothing. Fails with `invalid` for settings with which no call can succeed.
  Result<ModelList::Member> open(const ModelName& name);
  // The same for an entry as in ModelSettings::models. Without an address, its server is that of
  // the first model of the list with the same provider, if there is one.
  Result<ModelList::Member> open(const std::string& text);
  Result<std::shared_ptr<HttpModel>> open_http(const ModelName& name);

 private:
  const ModelSettings settings_;
  Clock& clock_;
  std::map<bool, std::shared_ptr<net::HttpClient>> clients_;    // by whether the server is near
  std::map<std::string, std::shared_ptr<ServerGuard>> guards_;  // by address
};

}  // namespace belay::models
