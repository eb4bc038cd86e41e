#pragma once
// agents/research/graph/fake_neo4j.h - FakeNeo4j: an HttpAccess that executes the statements of the
// graph in memory, or responds as a script states. For tests.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/research/graph/cypher.h"
#include "agents/research/graph/cypher_statements.h"
#include "belay/http.h"

namespace belay::research {

class FakeNeo4j final : public HttpAccess {
 public:
  // Of nodes by label and key, of relations by type and both ends; with the members of their rows.
  using Stored = std::map<std::string, std::map<std::string, Value>>;

  // Responds to the next call, without executing it.
  void responds(int status, std::string body = "", std::vector<HttpHeader> headers = {}) {
    HttpReply reply;
    reply.status = status;
    reply.body = std::move(body);
    reply.headers = std::move(headers);
    script_.push_back(Result<HttpReply>(std::move(reply)));
  }
  void fails(Error error) { script_.push_back(Result<HttpReply>(std::move(error))); }
  // Executes the next call.
  void executes() { script_.push_back(std::nullopt); }
  // Responds to all calls after the script with this status.
  void always_responds(int status) { always_ = status; }

  Task<Result<HttpReply>> send(HttpCall call) override {
    calls_.push_back(call);
    if (!script_.empty()) {
      std::optional<Result<HttpReply>> next = std::move(script_.front());
      script_.pop_front();
      if (next) co_return *std::move(next);
    } else if (always_ != 0) {
      HttpReply reply;
      reply.status = always_;
      co_return reply;
    }
    co_return execute(call);
  }

  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return error(ErrorCode::invalid, "FakeNeo4j is not narrowed.");
  }

  const std::vector<HttpCall>& calls() const { return calls_; }
  // The statements and parameters that were executed, with the number of times.
  const std::map<std::string, int>& executed() const { return executed_; }
  const Stored& stored() const { return stored_; }
  const std::set<std::string>& constraints() const { return constraints_; }

 private:
  static HttpReply accepted() {
    HttpReply reply;
    reply.status = 202;
    reply.body = R"({"data":{"fields":[],"values":[]},"bookmarks":["FB:1"]})";
    return reply;
  }

  Result<HttpReply> execute(const HttpCall& call) {
    Value body = parse_json(call.body).value();
    const std::string& statement = *body["statement"].as_string();
    ++executed_[call.body];
    if (statement.starts_with("CREATE CONSTRAINT")) {
      constraints_.insert(statement);
      return accepted();
    }
    for (const GraphTable& table : graph_tables()) {
      if (statement != cypher_statement(table, "$rows")) continue;
      for (const Value& row : *body["parameters"]["rows"].as_array()) merge(table, row);
      return accepted();
    }
    HttpReply reply;
    reply.status = 400;
    reply.body = R"({"errors":[{"code":"Neo.ClientError.Statement.SyntaxError"}]})";
    return reply;
  }

  void merge(const GraphTable& table, const Value& row) {
    std::string name(table.name);
    if (!table.is_relation()) {
      stored_[name][*row["key"].as_string()] = row;
      return;
    }
    const std::string& source = *row["source"].as_string();
    const std::string& target = *row["target"].as_string();
    stored_[std::string(table.source)].try_emplace(source);
    stored_[std::string(table.target)].try_emplace(target);
    stored_[name][source + " -> " + target] = row;
  }

  std::deque<std::optional<Result<HttpReply>>> script_;
  int always_ = 0;
  std::vector<HttpCall> calls_;
  std::map<std::string, int> executed_;
  Stored stored_;
  std::set<std::string> constraints_;
};

}  // namespace belay::research
