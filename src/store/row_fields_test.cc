// Tests that the lists of fields are complete: a member that is added to a row and not listed would
// be neither read nor exported.

#include "store/row_fields.h"

#include <gtest/gtest.h>

#include <set>

#include "belay/detail/reflect.h"

namespace belay::store {
namespace {

// A row, and the number of its members that are not listed, because their readers know them.
template <typename R, int omitted>
struct Listed {
  using Row = R;
  static constexpr int not_listed = omitted;
};

template <typename Case>
struct RowFields : ::testing::Test {};

using Cases =
    ::testing::Types<Listed<ThreadRow, 1>,      // the tenant
                     Listed<RunRow, 1>,         // the tenant
                     Listed<CheckpointRow, 2>,  // the run; the masked hash, which has no column
                     Listed<ValueRow, 1>,       // the run
                     Listed<EventRow, 1>,       // the run
                     Listed<TaskRow, 2>,        // the run and the namespace
                     Listed<EffectRow, 0>, Listed<OutboxRow, 0>,
                     Listed<ApprovalRow, 1>,                         // the tenant
                     Listed<StoredRecord, 0>, Listed<QueueRow, 1>>;  // the tenant
TYPED_TEST_SUITE(RowFields, Cases);

TYPED_TEST(RowFields, AreAllMembersOfTheRow) {
  using Row = typename TypeParam::Row;
  constexpr auto listed = std::tuple_size_v<std::remove_cvref_t<decltype(fields<Row>)>>;
  EXPECT_EQ(listed + TypeParam::not_listed, reflect::member_count<Row>);
}

TYPED_TEST(RowFields, HaveEachNameAndColumnOnce) {
  using Row = typename TypeParam::Row;
  std::set<std::string_view> names;
  std::set<std::string_view> columns;
  for_each_field<Row>([&](const auto& field) {
    EXPECT_TRUE(field.name.empty() || names.insert(field.name).second) << field.name;
    EXPECT_TRUE(field.column.empty() || columns.insert(field.column).second) << field.column;
    EXPECT_EQ(field.name.empty(), field.use == Use::only_stored) << field.column;
    EXPECT_EQ(field.column.empty(), field.use == Use::only_exported) << field.name;
  });
}

TEST(SelectLists, NameTheColumnsAndReplaceSome) {
  EXPECT_EQ(select_list<TaskRow>("t"), "t.superstep, t.position, t.task_id, t.status, t.envelope");
  EXPECT_EQ(select_list<EventRow>("e", {{"body", "''"}, {"no column", "1"}}),
            "e.seq, e.event_index, e.type, '', e.created_at, e.seal");
}

}  // namespace
}  // namespace belay::store
