#include "agents/checkpointer/module.h"

#include "agents/checkpointer/checkpoint_documents.h"
#include "agents/checkpointer/checkpointer_routes.h"
#include "agents/checkpointer/thread_gates.h"

namespace belay::checkpointer {

Module module() {
  Module module;
  module.name = "checkpointer";
  module.collections = {
      std::string(StoredCheckpoint::collection), std::string(StoredValues::collection),
      std::string(StoredWrites::collection),     std::string(StoredPart::collection),
      std::string(StoredGate::collection),       std::string(ClosedGeneration::collection)};
  module.routes = checkpointer_routes();
  module.presentation.schemas = checkpoint_schemas();
  return module;
}

}  // namespace belay::checkpointer
