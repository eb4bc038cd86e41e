#pragma once
// cli/documents.h - the documents of service/json_encode.h with the additions of the program.

#include "cli/program.h"
#include "service/json_encode.h"

namespace belay::cli {

inline Value run_document(const Program& program, const RunView& view) {
  return belay::run_document(view, program.presentation.approval_document);
}
inline Value approval_document(const Program& program, const ApprovalRow& row) {
  return belay::approval_document(row, program.presentation.approval_document);
}

}  // namespace belay::cli
