// The programs of these tests, their descriptions, and the tools from npm.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const folder = mkdtempSync(join(tmpdir(), "belay-openapi-"));

function environment(variables = {}) {
  return { PATH: process.env.PATH, HOME: folder, ...variables };
}

// Writes the description that `program api` prints to a file. Returns the path of the file.
export function describedBy(program, name) {
  const path = join(folder, name + ".json");
  const text = execFileSync(program, ["api"], {
    env: environment(),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  writeFileSync(path, text);
  return path;
}

// Executes a tool from npm with these words. Returns its status and its output.
export function tool(name, words, cwd = process.cwd()) {
  const path = join(process.cwd(), "node_modules", ".bin", name);
  // Without requests about newer versions, or about its use.
  const quiet = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" };
  const ended = spawnSync(path, words, {
    cwd,
    env: environment(quiet),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (ended.error) throw ended.error;
  return { status: ended.status, output: ended.stdout, errors: ended.stderr };
}

// Starts `program serve` with a store in the folder. Returns its address and the function that ends it.
export async function serve(program) {
  const variables = { BELAY_STORE: "sqlite:" + join(folder, "belay.db") };
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0"], {
    env: environment(variables),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  let text = "";
  const url = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("The server has ended: " + text)));
    child.stderr.on("data", (piece) => {
      text = (text + piece).slice(-10_000);
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) resolve(found[0]);
    });
  });
  return {
    url,
    end: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

export function removeFolder() {
  rmSync(folder, { recursive: true, force: true });
}
