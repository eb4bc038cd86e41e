// The members of rows that seals bind: a change of one without the key is detected.
//
// Each row is split into all of its members: a new member does not compile until it is added here.
// Each test lists the members that are not bound, and why.

#include "store/row_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <type_traits>

#include "store/envelope_subject.h"

namespace belay::store {
namespace {

void change(std::string& text) { text += "x"; }
void change(bool& flag) { flag = !flag; }
void change(Instant& at) { at += std::chrono::milliseconds(1); }
void change(Digest& digest) { digest[31] ^= 1; }
template <typename Number>
  requires std::is_integral_v<Number>
void change(Number& number) {
  ++number;
}
template <typename Name>
  requires std::is_enum_v<Name>
void change(Name& name) {
  name = static_cast<Name>(static_cast<int>(name) + 1);
}
template <typename Text>
  requires requires(Text& id) { id.text += "x"; }
void change(Text& id) {
  id.text += "x";
}
template <typename Id>
  requires std::is_base_of_v<Uuid, Id>
void change(Id& id) {
  id = Id(*uuid_from("0190a000-0000-7000-8000-000000000001"));
}

auto members(ThreadRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
}
auto members(RunRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac,
         ad, ae, af] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
                  ab, ac, ad, ae, af);
}
auto members(EventRow& row) {
  auto& [a, b, c, d, e, f, g] = row;
  return std::tie(a, b, c, d, e, f, g);
}
auto members(ApprovalRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
}
auto members(OutboxRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k);
}
auto members(CheckpointRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
}
auto members(ValueRow& row) {
  auto& [a, b, c, d, e, f, g, h] = row;
  return std::tie(a, b, c, d, e, f, g, h);
}
auto members(TaskRow& row) {
  auto& [a, b, c, d, e, f, g] = row;
  return std::tie(a, b, c, d, e, f, g);
}
auto members(EffectRow& row) {
  auto& [a, b, c, d, e, f, g, h, i, j, k] = row;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k);
}

std::string bytes_of(const RowPart& part) {
  std::string bytes;
  add(bytes, part.subject.row);
  add(bytes, part.subject.bound);
  for (const std::string* text : part.texts) add(bytes, *text);
  return bytes;
}
std::string bytes_of(const Subject& subject) {
  std::string bytes;
  add(bytes, subject.row);
  add(bytes, subject.bound);
  return bytes;
}

// The numbers of the members, from 0, whose change leaves the bytes that a seal covers as they are.
template <typename Row, typename Bytes>
std::set<std::size_t> unbound(const Bytes& bytes) {
  std::set<std::size_t> found;
  Row plain;
  std::string before = bytes(plain);
  constexpr std::size_t count = std::tuple_size_v<decltype(members(plain))>;
  auto try_one = [&]<std::size_t at>(std::integral_constant<std::size_t, at>) {
    Row row;
    change(std::get<at>(members(row)));
    if (bytes(row) == before) found.insert(at);
  };
  [&]<std::size_t... at>(std::index_sequence<at...>) {
    (try_one(std::integral_constant<std::size_t, at>()), ...);
  }(std::make_index_sequence<count>());
  return found;
}

using Numbers = std::set<std::size_t>;

template <typename Row, typename... Members>
Numbers numbers_of(Members Row::*... wanted) {
  Row row;
  std::set<const void*> addresses{&(row.*wanted)...};
  Numbers numbers;
  std::size_t number = 0;
  auto look = [&](const auto&... each) {
    ((addresses.contains(&each) ? (void)numbers.insert(number++) : (void)++number), ...);
  };
  std::apply(look, members(row));
  return numbers;
}

// Returns the members that neither of two parts of a row binds.
template <typename Row, typename First, typename Second>
Numbers unbound_in_both(const First& first, const Second& second) {
  Numbers one = unbound<Row>(first), other = unbound<Row>(second), both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                        std::inserter(both, both.end()));
  return both;
}

TEST(RowParts, BindAThreadToWhoseItIs) {
  auto part = [](ThreadRow& row) { return bytes_of(part_of(row)); };
  // The tenant has its own key; the latest run changes; retention contains no secret.
  EXPECT_EQ(unbound<ThreadRow>(part), numbers_of(&ThreadRow::tenant, &ThreadRow::last_run,
                                                 &ThreadRow::preserve, &ThreadRow::seal));
}

// The bound bytes of rows without the members that threads with several runs added are those of
// before: their seals still open.
TEST(RowParts, OfFirstRunsAndUneditedThreadsAreBoundAsBefore) {
  ThreadRow thread;
  thread.user = UserId("ana");
  EXPECT_EQ(part_of(thread).subject.bound, " 3:ana 0: 0");
  RunRow run;
  std::string start = start_part_of(run).subject.bound;
  std::string hash = to_hex(Digest{}), null = RunId().text();
  EXPECT_EQ(start, " 0: 0: 0: 64:" + hash + " 0 " + null + " 0 7:default 0 0:");
  run.ordinal = 2;
  EXPECT_EQ(start_part_of(run).subject.bound, start + " 2");
}

TEST(RowParts, BindARunToAllThatItsRowHas) {
  auto changing = [](RunRow& row) { return bytes_of(part_of(row)); };
  auto constant = [](RunRow& row) { return bytes_of(start_part_of(row)); };
  // The tenant has its own key, the input is an envelope; the others are the seals.
  EXPECT_EQ(unbound_in_both<RunRow>(changing, constant),
            numbers_of(&RunRow::tenant, &RunRow::input, &RunRow::seal, &RunRow::start_seal));
}

TEST(RowParts, BindAnEventAndAMessageToTheirPlaces) {
  auto event = [](EventRow& row) { return bytes_of(part_of(row)); };
  EXPECT_EQ(unbound<EventRow>(event), numbers_of(&EventRow::seal));
  auto message = [](OutboxRow& row) { return bytes_of(part_of(row)); };
  EXPECT_EQ(unbound<OutboxRow>(message), numbers_of(&OutboxRow::envelope, &OutboxRow::seal));
  auto body = [](OutboxRow& row) { return bytes_of(subject_of(row)); };
  EXPECT_EQ(
      unbound<OutboxRow>(body),
      numbers_of(&OutboxRow::topic, &OutboxRow::envelope, &OutboxRow::status, &OutboxRow::attempts,
                 &OutboxRow::error, &OutboxRow::due_at, &OutboxRow::created_at, &OutboxRow::seal));
}

TEST(RowParts, BindAnApprovalToItsQuestionAndItsDecision) {
  auto question = [](ApprovalRow& row) { return bytes_of(question_part_of(row)); };
  auto decision = [](ApprovalRow& row) { return bytes_of(decision_part_of(row)); };
  // Thread, user and graph are the run's, which is bound; payload and hashes have their own seals.
  EXPECT_EQ(unbound_in_both<ApprovalRow>(question, decision),
            numbers_of(&ApprovalRow::tenant, &ApprovalRow::thread, &ApprovalRow::user,
                       &ApprovalRow::graph, &ApprovalRow::payload, &ApprovalRow::payload_hash,
                       &ApprovalRow::edited_hash, &ApprovalRow::seal, &ApprovalRow::decision_seal));
}

TEST(RowParts, BindWhatHasAnEnvelopeToItsRow) {
  auto value = [](ValueRow& row) { return bytes_of(subject_of(row)); };
  EXPECT_EQ(unbound<ValueRow>(value), numbers_of(&ValueRow::envelope));
  auto task = [](TaskRow& row) { return bytes_of(subject_of(row)); };
  EXPECT_EQ(unbound<TaskRow>(task), numbers_of(&TaskRow::envelope));
  auto effect = [](EffectRow& row) { return bytes_of(subject_of(row)); };
  EXPECT_EQ(unbound<EffectRow>(effect), numbers_of(&EffectRow::envelope, &EffectRow::created_at,
                                                   &EffectRow::updated_at, &EffectRow::took_ms));
  auto chain = [](CheckpointRow& row) { return bytes_of(subject_of_chain(row)); };
  EXPECT_EQ(unbound<CheckpointRow>(chain),
            numbers_of(&CheckpointRow::chain_hash, &CheckpointRow::masked_hash));
  auto tasks = [](CheckpointRow& row) { return bytes_of(subject_of_tasks(row)); };
  Numbers elsewhere = unbound<CheckpointRow>(tasks);
  for (std::size_t number : numbers_of(&CheckpointRow::id, &CheckpointRow::run,
                                       &CheckpointRow::checkpoint_ns, &CheckpointRow::seq)) {
    EXPECT_FALSE(elsewhere.contains(number)) << number;
  }
}

}  // namespace
}  // namespace belay::store
