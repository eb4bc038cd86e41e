// Compiles the client in $CLIENT into a folder next to the installed packages, and starts servers.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync } from "node:fs";
import { join } from "node:path";

/** Returns the folder of the compiled client; the caller removes it. */
export function buildClient() {
  const folder = mkdtempSync(join(process.cwd(), "client-"));
  for (const name of ["src", "tsconfig.json", "package.json", "validation.init.mjs"]) {
    cpSync(join(process.env.CLIENT, name), join(folder, name), { recursive: true });
  }
  const compiler = join(process.cwd(), "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [compiler, "-p", folder], { stdio: "inherit" });
  return folder;
}

/** Starts $PROGRAM with this store; returns its process and its address. */
export async function serve(home, store, listen = "127.0.0.1:0") {
  const child = spawn(process.env.PROGRAM, ["serve", "--listen", listen], {
    env: { PATH: process.env.PATH, HOME: home, BELAY_STORE: store },
    stdio: ["ignore", "ignore", "pipe"],
  });
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
  return { child, url };
}
