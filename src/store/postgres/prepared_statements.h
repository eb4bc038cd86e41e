#pragma once
// store/postgres/prepared_statements.h - the statements of one connection, and which of them the
// server keeps prepared under a name.
//
// A statement is prepared at its second use, and then planned at most a few times instead of in
// each transaction. Its name is a hash of its text and of the types of its parameters: two
// connections that share a session of the server, because of an undetected pooler, never execute
// each other's statement under its name. At most `statements_max` are kept; the least
// recently used one is dropped.
//
// This only decides; Connection sends the statements for it.
//
// Threading: one thread at a time.

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace belay::postgres {

// Whether a statement's plan may be kept, or its best plan depends on the values of its parameters.
enum class Plan { kept, fresh };

class PreparedStatements {
 public:
  static constexpr std::size_t statements_max = 128;
  // A plan that was made for a small table is a bad one when the table has grown, and the server
  // replaces it only after an ANALYZE. Plans are therefore made again after this time, and after as
  // many executions as there were before, within these bounds.
  static constexpr std::chrono::seconds plan_age_max{10};
  static constexpr std::uint64_t first_renewal = 64;
  static constexpr std::uint64_t renewal_max = 4'096;

  struct Statement {
    std::string key;   // the text of the program
    std::string text;  // with the name of the schema
    std::string name;  // empty until the first preparation
    std::vector<std::uint32_t> types;
    std::uint64_t uses = 0;
    bool is_prepared = false;  // by the server, or it will be when the queued messages arrive
  };
  using Pointer = std::shared_ptr<Statement>;

  explicit PreparedStatements(std::string schema) : schema_(std::move(schema)) {}

  // Returns the statement of this text, for one use.
  Pointer use(std::string_view sql);
  // Decides whether this use can have the statement's name. If so and unless `is_prepared`, the
  // caller must prepare it first.
  bool takes_name(Statement& statement, const std::vector<std::uint32_t>& types);
  // Sets the name of a statement that takes_name() has accepted. Returns whether the server must
  // prepare it.
  bool must_prepare(Statement& statement);

  // The server did not prepare the statement after all.
  void note_unprepared(Statement& statement);
  // Takes the names that the server no longer needs to keep.
  std::vector<std::string> take_forgotten();
  // The server did not drop this name.
  void note_kept(std::string name) { forgotten_.push_back(std::move(name)); }
  // All names are invalid: each statement is prepared again at its next second use.
  void forget_all();

  // Whether the plans are due to be made again; counts from this call, if so.
  bool take_renewal(std::chrono::steady_clock::time_point now);

 private:
  Pointer add(std::string_view sql);
  void forget_oldest();

  const std::string schema_;
  std::list<Pointer> by_age_;  // the most recently used first
  std::unordered_map<std::string_view, std::list<Pointer>::iterator> by_text_;
  std::vector<std::string> forgotten_;  // names that the server still keeps
  std::uint64_t executions_ = 0;        // of prepared statements since the last renewal
  std::uint64_t renewal_at_ = first_renewal;
  std::chrono::steady_clock::time_point renewed_at_ = std::chrono::steady_clock::now();
};

}  // namespace belay::postgres
