#include "tests/property/scenario.h"

#include <ostream>
#include <stdexcept>

namespace belay::property {
namespace {

using namespace std::chrono_literals;

// After this many steps every branch selects a later node: every run ends.
constexpr int kStepsMax = 12;

std::string name_of_node(std::size_t index) { return "n" + std::to_string(index); }

// Returns the same number for the same position of the same run in every process.
std::uint64_t mixed(std::uint64_t seed, std::string_view node, int steps, int attempt) {
  std::string place = std::to_string(seed) + " " + std::string(node) + " " + std::to_string(steps) +
                      " " + std::to_string(attempt);
  Digest digest = sha256(place);
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | digest[static_cast<std::size_t>(i)];
  return bits;
}

// The behaviour of one node, shared by all of its attempts.
struct Behaviour {
  NodePlan plan;
  std::vector<int> results;
  std::uint64_t seed = 0;

  int comes_to(const Trail& trail, const Context& context) const {
    if (results.empty()) return done;
    std::uint64_t bits = mixed(seed, context.node(), trail.steps, context.attempt());
    return results[bits % results.size()];
  }

  Update<Trail> update(const Trail& trail, Context& context) const {
    std::string node(context.node());
    auto update = add(&Trail::steps, 1).append(&Trail::visited, node);
    if (plan.kind == NodePlan::save) {
      context.save(Footprint{context.task().text(), trail.draft});
      context.outcome("saved");
      return update;
    }
    if (plan.kind == NodePlan::validate) {
      Advice advice = trail.analysisResult;
      advice.recommendations.push_back("feedback " + std::to_string(trail.steps));
      return std::move(update)
          .add(&Trail::validationAttempts, 1)
          .set(&Trail::analysisResult, std::move(advice));
    }
    if (plan.kind == NodePlan::question) {
      InterruptRequest question;
      question.name = "go on";
      question.text = "Go on?";
      question.payload = Value(trail.steps);
      InterruptResponse answer = context.interrupt(std::move(question));
      std::string said = answer.approved ? to_json(answer.payload) : "no";
      return std::move(update).set(&Trail::draft, "answered " + said);
    }
    context.emit("step", Value(trail.steps));
    return std::move(update).set(&Trail::draft, node + " " + std::to_string(trail.steps));
  }

  Result<Update<Trail>> attempt(const Trail& trail, Context& context) const {
    switch (comes_to(trail, context)) {
      case unavailable:
        return error(ErrorCode::unavailable, "It is away.");
      case unavailable_with_wait: {
        Error away = error(ErrorCode::unavailable, "It is away for a while.");
        away.retry_after = 7s;
        return away;
      }
      case throws:
        throw std::runtime_error("the other side hung up");
      case invalid:
        return error(ErrorCode::invalid, "It can't be done.");
      case bug:
        throw std::logic_error("a bug");
      default:
        return update(trail, context);
    }
  }
};

// A coroutine must not be a lambda with captures: its data is passed as arguments.
Task<Result<Update<Trail>>> attempt_in_time(const Trail& trail, Context& context,
                                            std::shared_ptr<const Behaviour> behaviour) {
  int comes = behaviour->comes_to(trail, context);
  if (comes == slow) co_await sleep_for(2s);
  if (comes == hangs) co_await sleep_for(90s);
  co_return behaviour->attempt(trail, context);
}

void add_approval(GraphBuilder<Trail>& graph, const NodePlan& plan, const std::string& name,
                  const std::string& next, const std::string& other) {
  auto setting = graph.approval(name, &Trail::draft, {.question = "Is this right?"});
  setting.pending_flag(&Trail::requiresApproval).decision_flag(&Trail::approved);
  setting.approved(next).rejected(other);
  if (!plan.asks_always) setting.when([](const Trail& trail) { return trail.steps % 2 == 0; });
}

}  // namespace

Graph<Trail> graph_of(const Scenario& scenario, const std::string& name) {
  GraphBuilder<Trail> graph{name};
  graph.one_run_per_thread();
  std::size_t count = scenario.nodes.size();
  graph.edge(start, name_of_node(0));
  for (std::size_t i = 0; i < count; ++i) {
    const NodePlan& plan = scenario.nodes[i];
    std::string node = name_of_node(i);
    std::string next = i + 1 < count ? name_of_node(i + 1) : std::string(end);
    std::size_t way = static_cast<std::size_t>(plan.way) % (count + 1);
    std::string other = way < count ? name_of_node(way) : std::string(end);
    if (plan.kind == NodePlan::approve) {
      add_approval(graph, plan, node, next, other);
      continue;
    }
    auto behaviour =
        std::make_shared<const Behaviour>(Behaviour{plan, scenario.results, scenario.seed});
    RetryPolicy retry{.attempts = plan.attempts};
    if (plan.kind == NodePlan::wait) {
      graph
          .node(node,
                [behaviour](const Trail& trail, Context& context) {
                  return attempt_in_time(trail, context, behaviour);
                })
          .retry(retry)
          .timeout(30s);
    } else {
      graph
          .node(node, [behaviour](const Trail& trail,
                                  Context& context) { return behaviour->attempt(trail, context); })
          .retry(retry);
    }
    graph.branch(node,
                 [node, seed = scenario.seed](const Trail& trail) {
                   return trail.steps < kStepsMax && mixed(seed, node, trail.steps, 0) % 3 == 0;
                 },
                 {next, other});
  }
  return std::move(graph).build().value();
}

rc::Gen<Scenario> any_scenario() {
  auto kind = rc::gen::weightedElement<int>({{3, NodePlan::work},
                                             {3, NodePlan::wait},
                                             {3, NodePlan::approve},
                                             {1, NodePlan::validate},
                                             {2, NodePlan::save},
                                             {1, NodePlan::question}});
  auto node = rc::gen::build<NodePlan>(
      rc::gen::set(&NodePlan::kind, kind), rc::gen::set(&NodePlan::way, rc::gen::inRange(0, 8)),
      rc::gen::set(&NodePlan::attempts, rc::gen::element(1, 3, 4, 5, 6)),
      rc::gen::set(&NodePlan::asks_always, rc::gen::arbitrary<bool>()));
  auto nodes = rc::gen::mapcat(rc::gen::inRange(2, 9), [node](int count) {
    return rc::gen::container<std::vector<NodePlan>>(static_cast<std::size_t>(count), node);
  });
  auto result = rc::gen::weightedElement<int>({{14, done},
                                               {3, unavailable},
                                               {2, unavailable_with_wait},
                                               {2, throws},
                                               {3, slow},
                                               {1, hangs},
                                               {1, invalid},
                                               {1, bug}});
  auto verdict = rc::gen::weightedElement<int>(
      {{6, approve}, {3, reject}, {3, edit}, {2, late}, {2, expire}, {1, cancel}});
  return rc::gen::build<Scenario>(
      rc::gen::set(&Scenario::nodes, nodes),
      rc::gen::set(&Scenario::results, rc::gen::container<std::vector<int>>(12, result)),
      rc::gen::set(&Scenario::verdicts, rc::gen::container<std::vector<int>>(verdict)),
      rc::gen::set(&Scenario::require_approval,
                   rc::gen::weightedElement<bool>({{9, true}, {1, false}})),
      rc::gen::set(&Scenario::seed, rc::gen::inRange<std::uint64_t>(0, 1'000'000)));
}

rc::Gen<std::vector<Crash>> any_crashes() {
  auto crash = rc::gen::build<Crash>(rc::gen::set(&Crash::after, rc::gen::inRange(0, 8)),
                                     rc::gen::set(&Crash::way, rc::gen::inRange(0, 4)));
  return rc::gen::mapcat(rc::gen::inRange(0, 6), [crash](int count) {
    return rc::gen::container<std::vector<Crash>>(static_cast<std::size_t>(count), crash);
  });
}

std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  static constexpr const char* kinds[] = {"work",     "wait", "approve",
                                          "validate", "save", "question"};
  out << "seed " << scenario.seed << (scenario.require_approval ? "" : ", asks nobody")
      << ", nodes";
  for (const NodePlan& node : scenario.nodes) {
    out << " (" << kinds[node.kind] << " way " << node.way << " attempts " << node.attempts
        << (node.asks_always ? "" : " asks sometimes") << ")";
  }
  out << ", results";
  for (int each : scenario.results) out << " " << each;
  out << ", verdicts";
  for (int each : scenario.verdicts) out << " " << each;
  return out;
}

std::ostream& operator<<(std::ostream& out, const Crash& crash) {
  static constexpr const char* ways[] = {"loses the commit", "loses the answer", "refuses",
                                         "is uncertain"};
  return out << "after " << crash.after << " " << ways[crash.way];
}

}  // namespace belay::property
