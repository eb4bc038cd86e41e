#include "agents/checkpointer/module.h"

#include "agents/checkpointer/checkpoint_documents.h"
#include "agents/checkpointer/checkpointer_routes.h"
#include "agents/checkpointer/thread_gates.h"

namespace belay::checkpointer {

Module module() {
  Module module;
  module.name = "checkpointer";
  module.collections = {
      record_collection<StoredCheckpoint>(), record_collection<StoredValues>(),
      record_collection<StoredWrites>(),     record_collection<StoredPart>(),
      record_collection<StoredGate>(),       record_collection<ClosedGeneration>()};
  module.routes = checkpointer_routes();
  module.presentation.schemas = checkpoint_schemas();
  return module;
}

}  // namespace belay::checkpointer
