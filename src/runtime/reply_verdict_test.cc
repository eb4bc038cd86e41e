// Tests the verdict on a model's reply: the end of the node that requested it decides, also if the
// request has its own verdict object.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Note {
  std::string text{};
};

// Records the verdicts on its replies, as a cache would.
class JudgedModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (request.verdict) {
      request.verdict->when_given([this](bool accepted) { verdicts.push_back(accepted); });
    }
    ModelReply reply;
    reply.text = "a reply";
    co_return std::move(reply);
  }
  std::vector<bool> verdicts;
};

enum class End { well, failed, refused, asks };

struct ReplyVerdicts : CrashingStoreFixture {
  JudgedModel judged;

  // Runs a node that calls the model once and has this end. `own`: the verdict object of the
  // request.
  std::vector<bool> verdicts_of(End end, std::shared_ptr<AnswerVerdict> own = nullptr) {
    judged.verdicts.clear();
    GraphBuilder<Note> builder{"note"};
    builder.node("write", [end, own](const Note&, Context& context) -> Task<Result<Update<Note>>> {
      ModelRequest request;
      request.messages = {{Role::user, "Write."}};
      request.verdict = own;
      auto reply = co_await context.model().generate(std::move(request));
      if (!reply.ok()) co_return std::move(reply).error();
      if (end == End::refused) context.refuse_answers();
      if (end == End::failed) co_return error(ErrorCode::invalid, "It does not fit.");
      InterruptRequest question;
      question.name = "well";
      question.text = "Is it well?";
      if (end == End::asks) (void)context.interrupt(std::move(question));
      co_return set(&Note::text, reply->text);
    });
    builder.edge(belay::start, "write").edge("write", belay::end);
    auto graph = std::move(builder).build().value();
    auto runtime = Runtime::open(RuntimeParts{store, loop, clock, random, judged}).value();
    runtime->add(graph);
    (void)block_on(loop, runtime->start(graph, Note{}, StartOptions{})).value();
    return judged.verdicts;
  }
};

TEST_F(ReplyVerdicts, AreGivenByTheEndOfTheNode) {
  EXPECT_THAT(verdicts_of(End::well), ElementsAre(true));
  EXPECT_THAT(verdicts_of(End::failed), ElementsAre(false));
  EXPECT_THAT(verdicts_of(End::refused), ElementsAre(false));
  EXPECT_THAT(verdicts_of(End::asks), IsEmpty()) << "a node that waits may still refuse";
}

TEST_F(ReplyVerdicts, OfARequestWithAReaderOfItsOwnAreGivenByTheNodeToo) {
  EXPECT_THAT(verdicts_of(End::well, std::make_shared<AnswerVerdict>()), ElementsAre(true));
  EXPECT_THAT(verdicts_of(End::failed, std::make_shared<AnswerVerdict>()), ElementsAre(false));
  EXPECT_THAT(verdicts_of(End::refused, std::make_shared<AnswerVerdict>()), ElementsAre(false));
  EXPECT_THAT(verdicts_of(End::asks, std::make_shared<AnswerVerdict>()), IsEmpty());
}

TEST_F(ReplyVerdicts, OfAReaderThatRefusesStaysThoughTheNodeEndsWell) {
  auto own = std::make_shared<AnswerVerdict>();
  own->refuse();
  EXPECT_THAT(verdicts_of(End::well, own), ElementsAre(false));
}

}  // namespace
}  // namespace belay
