// A store calls a reader again if it detects damage or loses its server: each result of the service
// must be the same as if every reader had been called once.

#include <functional>
#include <map>

#include "service/json_encode.h"
#include "tests/support/service_fixture.h"

namespace belay {
namespace {

struct RepeatedReads : ServiceFixture {
  template <typename T, typename Write>
  std::string text_of(Task<Result<T>> asked, Write write) {
    auto answer = wait(std::move(asked));
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? to_json(write(*answer)) : answer.error().message;
  }
  template <typename T, typename Write>
  std::string texts_of(Task<Result<std::vector<T>>> asked, Write write) {
    return text_of(std::move(asked), [&write](const std::vector<T>& rows) {
      Value::Array all;
      for (const T& row : rows) all.push_back(write(row));
      return Value(std::move(all));
    });
  }

  // Returns the results of all read operations, as JSON.
  std::map<std::string, std::string> answers() {
    ThreadId bought("bought");
    auto same = [](const Value& value) { return value; };
    auto without_its_time = [](Value file) {
      file.as_object()->erase("exportedAt");
      file.as_object()->erase("digest");
      return file;
    };
    auto run = [](const RunView& view) { return run_document(view, nullptr); };
    auto row = [](const RunRow& each) { return run_summary(each); };
    auto approval = [](const ApprovalRow& each) { return approval_document(each, nullptr); };
    auto thread = [](const ListedThread& each) { return thread_document(each.thread, each.run); };
    auto history = [](const std::vector<RunHistory>& page) { return history_document(page, 100); };
    ApprovalPage every_approval;
    every_approval.only_open = false;
    MessagePage first;
    first.limit = 2;
    ForkOptions fork;
    fork.from = bought;
    fork.seq = 1;
    return {
        {"status", text_of(service_->status(local_program, bought, std::nullopt), run)},
        {"status at 2", text_of(service_->status(local_program, bought, 2), run)},
        {"run of", text_of(service_->run_of(local_program, bought), row)},
        {"threads", texts_of(service_->threads(local_program, {}), thread)},
        {"runs", texts_of(service_->runs(local_program, {}), row)},
        {"thread", text_of(service_->thread(local_program, bought), thread)},
        {"history", text_of(service_->history(local_program, {bought}), history)},
        {"calls", text_of(service_->calls(local_program, {bought}), same)},
        {"standing",
         text_of(service_->standing(local_program, Whose()),
                 [](const StatusSummary& each) { return status_summary_document(each, nullptr); })},
        {"approvals", texts_of(service_->approvals(local_program, every_approval), approval)},
        {"approval", text_of(service_->approval(local_program, "waits", Whose()), approval)},
        {"approval of", text_of(service_->approval_of(local_program, bought, Whose()), approval)},
        {"queues", text_of(service_->queues(local_program, std::nullopt), same)},
        {"workers", text_of(service_->workers(local_program), same)},
        {"messages", text_of(service_->messages(local_program, {}), messages_document)},
        {"first messages", text_of(service_->messages(local_program, first), messages_document)},
        {"preview",
         text_of(service_->preview(local_program, fork),
                 [](const ForkPreview& each) { return preview_document(each, nullptr); })},
        {"replay", text_of(service_->replay(local_program, bought, std::nullopt), replay_document)},
        {"export",
         text_of(service_->export_run(local_program, bought, std::nullopt), without_its_time)},
        {"check", text_of(service_->check(local_program), check_document)},
    };
  }
};

TEST_F(RepeatedReads, AnswerAsReadsThatAreNotRepeated) {
  began("waits", "a hat");
  for (const char* item : {"a coat", "a shoe", "a bus"}) began(std::string("of ") + item, item);
  began("bought", "a cat");
  EXPECT_TRUE(decided("bought", true, "fine").ok());
  EXPECT_EQ(began("failed", "stone").row.status, RunStatus::failed);
  std::map<std::string, std::string> repeated = answers();
  store_->repeats = false;
  std::map<std::string, std::string> once = answers();
  ASSERT_EQ(repeated.size(), once.size());
  for (const auto& [name, answer] : repeated) EXPECT_EQ(answer, once[name]) << name;
  EXPECT_NE(once["first messages"].find("a hat"), std::string::npos) << once["first messages"];
}

}  // namespace
}  // namespace belay
