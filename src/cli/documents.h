#pragma once
// cli/documents.h - what --json prints. Members are only ever added: docs/command-line.md has them.

#include "belay/runtime.h"
#include "belay/value.h"
#include "cli/program.h"

namespace belay::cli {

Value run_document(const Program& program, const RunView& view);
Value approval_document(const Program& program, const ApprovalRow& row);
Value checkpoint_document(const CheckpointRow& row);
// A thread with its latest run; null members where there is none.
Value thread_document(const ThreadRow& thread, const std::optional<RunRow>& run);

// What an approval shows, and what a person made of it: null when the bytes can't be read.
Value payload_of(const ApprovalRow& row);
Value edited_of(const ApprovalRow& row);

}  // namespace belay::cli
