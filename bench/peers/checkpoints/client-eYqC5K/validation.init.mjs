// An initializer for @langchain/langgraph-checkpoint-validation. Starts `belay serve` with an empty
// store; each checkpointer has a user, and thereby checkpoints, that no other one has.
//
//   BELAY              the program; default: ../../../build/release/belay
//   BELAY_VALIDATION_STORE   the store; default: a SQLite file in a temporary folder

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BelaySaver } from "./dist/index.js";

const program =
  process.env.BELAY ?? fileURLToPath(new URL("../../../build/release/belay", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "belay-validation-"));
const store = process.env.BELAY_VALIDATION_STORE ?? "sqlite:" + join(folder, "belay.db");
let server;
let url;

function stop() {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

async function start() {
  server = spawn(program, ["serve", "--listen", "127.0.0.1:0"], {
    env: { PATH: process.env.PATH, HOME: folder, BELAY_STORE: store },
    stdio: ["ignore", "ignore", "pipe"],
  });
  process.once("exit", stop);
  let text = "";
  url = await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`${program} has ended: ${text}`)));
    // Reading does not stop after the address: a full pipe would stop the server.
    server.stderr.on("data", (piece) => {
      text += url ? "" : piece;
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) resolve(found[0]);
    });
  });
}

export default {
  checkpointerName: "@belay/langgraph-checkpoint",
  beforeAllTimeout: 30_000,
  beforeAll: start,
  afterAll() {
    process.removeListener("exit", stop);
    stop();
  },
  createCheckpointer: () => new BelaySaver({ url, userId: "validation-" + randomUUID() }),
};
