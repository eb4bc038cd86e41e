#pragma once
// runtime/thread_edit.h - changes the title, metadata and expiry of a thread.

#include "belay/runtime.h"

namespace belay {

// See Runtime::edit_thread(). Of concurrent changes none is lost: each is applied to the result of
// the one before it.
Task<Result<ThreadRow>> edit_thread(RuntimeParts& parts, TenantId tenant, ThreadId thread,
                                    ThreadSettings settings);

}  // namespace belay
