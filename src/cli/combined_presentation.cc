#include "cli/combined_presentation.h"

namespace belay::cli {

Presentation combined_presentation(const std::vector<Module>& modules) {
  std::vector<Presentation> all;
  bool have_all_made = true;
  for (const Module& module : modules) {
    const Presentation& own = module.presentation;
    have_all_made = have_all_made && own.made;
    all.push_back(own);
  }
  Presentation whole;
  for (const Presentation& own : all) {
    whole.schemas.insert(own.schemas.begin(), own.schemas.end());
    whole.conversations.insert(own.conversations.begin(), own.conversations.end());
  }
  whole.payload = [all](ModuleContext& context, const Value& payload) {
    for (const Presentation& own : all) {
      if (own.payload && own.payload(context, payload)) return true;
    }
    return false;
  };
  whole.made = [all, have_all_made](const Value& state) -> const Value* {
    for (const Presentation& own : all) {
      const Value* made = own.made ? own.made(state) : nullptr;
      if (made) return made;
    }
    return have_all_made ? nullptr : &state;
  };
  whole.title = [all](const RunView& view) {
    std::string title;
    for (const Presentation& own : all) {
      if (title.empty() && own.title) title = own.title(view);
    }
    return title;
  };
  whole.mark = [all](ModuleContext& context, const ApprovalRow& row) {
    std::string mark;
    for (const Presentation& own : all) {
      if (mark.empty() && own.mark) mark = own.mark(context, row);
    }
    return mark;
  };
  whole.approval_document = [all](const ApprovalRow& row, Value::Object& document) {
    for (const Presentation& own : all) {
      if (own.approval_document) own.approval_document(row, document);
    }
  };
  whole.after_approvals = [all](ModuleContext& context, const std::vector<ApprovalRow>& rows) {
    for (const Presentation& own : all) {
      if (own.after_approvals) own.after_approvals(context, rows);
    }
  };
  return whole;
}

}  // namespace belay::cli
