// A message of an MCP server, which can be any bytes: a page of tools, or the result of a call.

#include "belay/mcp.h"
#include "mcp/json_rpc.h"
#include "mcp/tool_list.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

void tools(const Value& result) {
  mcp::ToolList list;
  auto cursor = mcp::add_page(result, true, 100, list);
  if (!cursor.ok()) return require_sound(cursor.error());
  require(list.tools.size() <= 100, "the number of tools is bounded");
  for (const mcp::ToolInfo& tool : list.tools) {
    require(tool.name.size() <= mcp::tool_name_bytes_max, "a name is bounded");
    require(tool.description.size() <= mcp::description_bytes_max, "a description is bounded");
    require(tool.input_schema.as_object() != nullptr, "a schema is an object");
  }
  mcp::ServerOptions server;
  server.name = "fuzz";
  server.command = {"server"};
  mcp::Pins pins;
  mcp::accept_pins(pins, server, list.tools);
  require(mcp::check_pins(pins, server, list.tools).empty(), "accepted tools equal their pins");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(McpMessage, "mcp_message") {
  auto message = belay::mcp::parse_message(input);
  if (!message.ok()) return belay::fuzz::require_sound(message.error());
  belay::fuzz::require(
      message->method.empty() == (message->kind == belay::mcp::MessageKind::result ||
                                  message->kind == belay::mcp::MessageKind::fault),
      "requests and notifications have a method");
  if (message->kind != belay::mcp::MessageKind::result) return;
  belay::fuzz::tools(message->result);
  auto result = belay::mcp::call_result_of(message->result);
  if (!result.ok()) belay::fuzz::require_sound(result.error());
}
