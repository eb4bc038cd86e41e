// The JSON Schemas of responses. docs/command-line.md describes each member; the tests check every
// response against its schema.

#include "server/closed_names.h"
#include "server/openapi.h"

namespace belay::server {
namespace {

// A member is written as "name:type". A '?' after the type: may be null. "[]" after the type: a
// list. A type that starts with a capital letter is another schema, or a set of closed_names.h.
Value type_of(std::string_view text) {
  bool may_be_null = text.ends_with('?');
  if (may_be_null) text.remove_suffix(1);
  if (text.ends_with("[]")) {
    text.remove_suffix(2);
    return Value::object({{"type", "array"}, {"items", type_of(text)}});
  }
  if (text == "any") return Value(true);
  bool is_schema = text.front() >= 'A' && text.front() <= 'Z';
  Value type = is_schema ? Value::object({{"$ref", "#/components/schemas/" + std::string(text)}})
                         : Value::object({{"type", text}});
  if (!may_be_null) return type;
  Value::Array choices{std::move(type), Value::object({{"type", "null"}})};
  return Value::object({{"anyOf", std::move(choices)}});
}

struct Schema {
  std::string_view name;
  std::string_view required;  // members, separated by spaces
  std::string_view optional = "";
};

constexpr Schema kSchemas[] = {
    {"Problem", "type:string title:string status:integer code:ProblemCode detail:string"},
    {"Health", "status:HealthStatus", "version:string reason:string"},
    {"Error", "code:ErrorCode message:string"},
    {"Spending", "tokens:integer money:integer reservedTokens:integer reservedMoney:integer"},
    {"Run",
     "threadId:string runId:string agent:string userId:string status:ShownRunStatus reason:string? "
     "outcome:string? success:boolean currentNode:string seq:integer retryCount:integer "
     "workedMs:integer createdAt:string updatedAt:string dueAt:string? error:Error?",
     "state:any approval:Approval? spending:Spending? heldBy:string? storedStatus:RunStatus "
     "materials:object queue:string priority:integer "
     "concurrencyKey:string ordinal:integer input:any uncertainEffects:Effect[] "
     "unusedSteering:SteeringMessage[]"},
    {"ThreadRun",
     "threadId:string runId:string agent:string userId:string status:ShownRunStatus reason:string? "
     "outcome:string? success:boolean currentNode:string seq:integer retryCount:integer "
     "workedMs:integer createdAt:string updatedAt:string dueAt:string? error:Error? "
     "thread:ThreadDetails",
     "state:any approval:Approval? spending:Spending? heldBy:string? storedStatus:RunStatus "
     "materials:object queue:string priority:integer "
     "concurrencyKey:string ordinal:integer uncertainEffects:Effect[]"},
    {"Effect",
     "name:string node:string class:EffectClass status:EffectStatus attempts:integer "
     "createdAt:string"},
    {"RunList", "runs:Run[] next:string?"},
    {"Approval",
     "interruptId:string threadId:string runId:string agent:string userId:string node:string "
     "question:string status:ApprovalStatus payload:any payloadHash:string createdAt:string "
     "expiresAt:string? roles:string[] decidedAt:string? decidedBy:string? onBehalfOf:string? "
     "comment:string? editedPayload:any choices:ApprovalChoice[] choice:string? "
     "whenExpired:string",
     "needs:integer answerSchema:any answer:any votes:Vote[] riskLevel:integer? crisis:boolean"},
    {"ApprovalChoice", "name:string label:string? approves:boolean"},
    {"Vote", "decidedBy:string choice:string at:string", "onBehalfOf:string comment:string"},
    {"ApprovalList", "approvals:Approval[] next:string?"},
    {"Decision", "result:DecisionVerdict answer:FormerVerdict approval:Approval run:Run"},
    {"LostDecision", "type:string title:string status:integer code:ProblemCode detail:string",
     "result:DecisionVerdict answer:FormerVerdict approval:Approval run:Run"},
    {"Thread", "threadId:string agent:string userId:string createdAt:string run:Run?",
     "status:ShownThreadStatus? title:string? metadata:object expiresAt:string? updatedAt:string? "
     "codeGone:boolean"},
    {"ThreadDetails",
     "threadId:string agent:string userId:string createdAt:string status:ShownThreadStatus?",
     "title:string? metadata:object expiresAt:string? updatedAt:string?"},
    {"ThreadList", "threads:Thread[] next:string?"},
    {"LeftBehind", "threads:string[]"},
    {"Preserved", "threadId:string preserved:boolean"},
    {"SteeringMessage",
     "id:string threadId:string runId:string text:string use:SteeringUse sentBy:string "
     "createdAt:string waits:boolean usedBy:string usedAt:string?"},
    {"SteeringList", "messages:SteeringMessage[]"},
    {"DeletedThread", "threadId:string runs:integer"},
    {"Checkpoint",
     "checkpointId:string parentId:string? seq:integer epoch:integer kind:CommitKind node:string? "
     "superstep:integer status:RunStatus retryCount:integer createdAt:string hash:string",
     "runId:string materials:object"},
    {"HistoryEnd", "before:integer beforeRun:string"},
    {"History",
     "threadId:string runId:string agent:string status:RunStatus reason:string? dueAt:string? "
     "checkpoints:Checkpoint[]",
     "runs:Run[] next:HistoryEnd?"},
    {"RecordedCall",
     "name:string kind:CallKind node:string class:EffectClass status:EffectStatus attempts:integer "
     "createdAt:string updatedAt:string",
     "request:string prompt:any reply:any error:any cost:any lost:any result:any "
     "durationMs:integer"},
    {"RunFile",
     "belay:string version:integer exportedAt:string thread:any run:any checkpoints:any[] "
     "values:any[] tasks:any[] events:any[] effects:any[] messages:any[] approvals:any[] inner:any "
     "digest:string"},
    {"CallList", "threadId:string runId:string agent:string calls:RecordedCall[]"},
    {"Divergence", "seq:integer node:string what:string recorded:string replayed:string"},
    {"Replay",
     "threadId:string runId:string commits:integer compared:integer divergence:Divergence?"},
    {"ForkPreview",
     "threadId:string seq:integer next:string[] again:string[] effects:Effect[] "
     "messages:ForkedMessage[] approvals:Approval[]"},
    {"ForkedMessage", "topic:string seq:integer status:MessageStatus"},
    {"StandingRun",
     "threadId:string runId:string agent:string status:RunStatus currentNode:string dueAt:string?"},
    {"Overview",
     "running:StandingRun[] orphaned:StandingRun[] leftBehind:StandingRun[] "
     "queued:StandingRun[] codeGone:StandingRun[] approvals:Approval[]"},
    {"Event",
     "id:string? kind:EventKind threadId:string runId:string namespace:string? space:string? "
     "node:string? "
     "taskId:string? attempt:integer? offset:integer? at:string body:any"},
    {"EventList", "events:Event[] next:string?"},
    {"Message", "id:string status:MessageStatus",
     "runId:string topic:string attempts:integer error:string? dueAt:string createdAt:string "
     "body:any"},
    {"MessageList", "messages:Message[] more:integer"},
    {"Queue", "name:string paused:boolean runsMax:integer perKeyMax:integer",
     "queued:integer running:integer waiting:integer quarantined:integer due:integer "
     "oldestDueAt:string? heldBy:Held[]"},
    {"Held", "reason:string runs:integer"},
    {"QueueList", "queues:Queue[]", "waitCauses:WaitCount[]"},
    {"WaitCount", "cause:WaitCauseName runs:integer"},
    {"WaitCause",
     "cause:WaitCauseName text:string alternative:boolean runId:string node:string? until:string? "
     "interruptId:string? roles:string[] queue:string?"},
    {"Why",
     "threadId:string runId:string agent:string status:RunStatus since:string cause:WaitCauseName "
     "chain:WaitCause[] more:integer"},
    {"ClearedQueue", "name:string queued:integer cancelled:integer dryRun:boolean"},
    {"Schedule",
     "name:string userId:string agent:string input:any threadId:string? queue:string "
     "priority:integer expression:string zone:string overlap:Overlap catchUpSeconds:integer "
     "jitterSeconds:integer endsAt:string? paused:boolean reason:string? module:string? "
     "description:string "
     "next:string[] lastRunId:string? lastThreadId:string? lastError:string? buffered:string? "
     "decidedUntil:string started:integer skipped:integer missed:integer failed:integer "
     "createdAt:string updatedAt:string",
     "ticks:ScheduleTick[]"},
    {"ScheduleList", "schedules:Schedule[] next:string?"},
    {"ScheduleTick",
     "at:string until:string count:integer decision:TickOutcome reason:string? runId:string? "
     "threadId:string? decidedAt:string"},
    {"ScheduleTickList", "ticks:ScheduleTick[] next:string?"},
    {"Backfill", "ticks:integer started:integer first:string? last:string?"},
    {"DeletedSchedule", "name:string"},
    {"Worker",
     "session:string name:string? alive:boolean processId:integer? startedAt:string? "
     "seenAt:string? "
     "runs:integer oldestAt:string?"},
    {"WorkerList", "workers:Worker[]"},
    {"Table", "name:string rows:integer bytes:integer"},
    {"Store", "tables:Table[] bytes:integer freeBytes:integer"},
    {"Compaction", "bytesBefore:integer bytesAfter:integer"},
    {"Pruning",
     "threads:integer largeValues:integer runs:integer preserved:integer expiredRecords:integer"
     " dryRun:boolean"},
    {"Violation", "rule:string subject:string message:string"},
    {"Check",
     "violations:Violation[] rules:integer runs:integer checkpoints:integer approvals:integer"},
    {"Record",
     "collection:string userId:string key:string value:any runId:string? seq:integer "
     "updatedAt:string version:integer sortValue:string?"},
    {"RecordList", "records:Record[]"},
    {"Saved", "saved:integer"},
    {"AgentUsage",
     "agentId:string invocationCount:integer successCount:integer errorCount:integer "
     "totalInputTokens:integer totalOutputTokens:integer totalCost:integer totalLatencyMs:integer "
     "totalRetries:integer minLatencyMs:integer? maxLatencyMs:integer? avgLatencyMs:integer? "
     "p50LatencyMs:integer? p95LatencyMs:integer?"},
    {"AgentUsageList", "summary:AgentUsage[]", "usage:UsageDay[]"},
    {"UsageDay",
     "date:string invocationCount:integer successCount:integer errorCount:integer "
     "totalInputTokens:integer totalOutputTokens:integer totalCost:integer totalLatencyMs:integer "
     "totalRetries:integer minLatencyMs:integer? maxLatencyMs:integer? avgLatencyMs:integer? "
     "p50LatencyMs:integer? p95LatencyMs:integer?"},
    {"UsageDayList", "agentId:string usage:UsageDay[]"},
    {"Agent", "name:string hash:string entries:string[] channels:string[] declared:any nodes:any[]",
     "oneRunPerThread:boolean inputSchema:any description:string"},
    {"AgentList", "agents:Agent[]"},
};

// Adds the members of a list to `properties`, and their names to `names` unless that is null.
void add_members(std::string_view list, Value::Object& properties, Value::Array* names) {
  while (!list.empty()) {
    std::size_t end = std::min(list.find(' '), list.size());
    std::string_view member = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    std::size_t colon = member.find(':');
    properties.emplace(std::string(member.substr(0, colon)), type_of(member.substr(colon + 1)));
    if (names) names->emplace_back(member.substr(0, colon));
  }
}

}  // namespace

Value answer_schemas(const std::map<std::string, Value>& more) {
  Value::Object schemas(more.begin(), more.end());
  schemas.merge(closed_names());
  for (const Schema& schema : kSchemas) {
    Value::Object properties;
    Value::Array required;
    add_members(schema.required, properties, &required);
    add_members(schema.optional, properties, nullptr);
    schemas.emplace(std::string(schema.name), Value::object({{"type", "object"},
                                                             {"properties", std::move(properties)},
                                                             {"required", std::move(required)}}));
  }
  return Value(std::move(schemas));
}

}  // namespace belay::server
