// Generates the types of a client from the description of a running server, compiles client.ts with
// them, and executes it with that server.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { describedBy, removeFolder, serve, tool } from "./program.mjs";

// Below the packages, so that the compiler and the client find them.
const source = join(process.cwd(), "client");
const sent = "/api/agents/letter%20writer/runs";
let server;

before(async () => {
  server = await serve(process.env.PROGRAM);
  mkdirSync(source, { recursive: true });
  for (const name of ["client.ts", "tsconfig.json"]) {
    copyFileSync(join(process.env.FILES, name), join(source, name));
  }
  writeFileSync(join(source, "package.json"), '{"type":"module"}');
});

after(async () => {
  await server.end();
  removeFolder();
});

function generate(from, to) {
  const made = tool("openapi-typescript", [from, "--output", join(source, to)]);
  assert.equal(made.status, 0, made.output + made.errors);
}

function compile() {
  return tool("tsc", ["--project", source]);
}

test("a client is generated, compiled strictly and used", async () => {
  const description = await fetch(server.url + "/openapi.json");
  assert.equal(description.status, 200);
  const document = await description.json();
  assert.ok(document.paths[sent]);
  writeFileSync(join(source, "openapi.json"), JSON.stringify(document));
  generate(join(source, "openapi.json"), "schema.ts");
  const compiled = compile();
  assert.equal(compiled.status, 0, compiled.output);
  execFileSync(process.execPath, [join(source, "client.js"), server.url], { stdio: "inherit" });
});

test("`api` prints the description of the server", async () => {
  const description = await (await fetch(server.url + "/openapi.json")).json();
  const printed = JSON.parse(readFileSync(describedBy(process.env.PROGRAM, "letters")));
  assert.deepEqual(printed, description);
});

test("without the types of the agents, the compiler finds the errors of the client", async () => {
  const document = JSON.parse(readFileSync(describedBy(process.env.PROGRAM, "letters")));
  document.components.schemas["AgentInput_letter_writer"] = {};
  writeFileSync(join(source, "openapi.json"), JSON.stringify(document));
  generate(join(source, "openapi.json"), "schema.ts");
  const compiled = compile();
  assert.notEqual(compiled.status, 0);
  assert.match(compiled.output, /Unused '@ts-expect-error' directive/);
});

test("the types of all of Belay's agents compile", () => {
  generate(describedBy(process.env.BELAY, "belay"), "belay.ts");
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  const compiled = tool("tsc", [...options, join(source, "belay.ts")]);
  assert.equal(compiled.status, 0, compiled.output);
});
