// A server of a test: $PROGRAM in a folder of the test, with a hard day for the Daily Auditor; or
// another program, which the variable PROGRAM of its options names.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const HARD_DAY = "2026-11-21";
const NOTE =
  "I am exhausted and worn out, no strength left. Could not sleep all night, awake until five. " +
  "Ill again, fever and pain all day. I cried and feel depressed and hopeless. I am afraid and " +
  "anxious, another panic attack.";

export class Server {
  // `options`: words of the command line, and objects of variables.
  static async start(...options) {
    const server = new Server();
    server.variables = Object.assign({}, ...options.filter((each) => typeof each === "object"));
    server.home = mkdtempSync(join(tmpdir(), "belay-agent-server-"));
    mkdirSync(join(server.home, "files"));
    server.options = options.filter((each) => typeof each !== "object");
    server.program = server.variables.PROGRAM ?? process.env.PROGRAM;
    if (server.program === process.env.PROGRAM) server.importDay();
    await server.run("127.0.0.1:0");
    return server;
  }

  importDay() {
    const note = JSON.stringify({ date: HARD_DAY, content: NOTE }) + "\n";
    execFileSync(this.program, ["notes", "import", "-"], {
      env: this.environment(),
      input: note,
      stdio: ["pipe", "ignore", "inherit"],
    });
  }

  environment() {
    const store = "sqlite:" + join(this.home, "belay.db");
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      BELAY_STORE: store,
      BELAY_MODEL: "builtin",
      BELAY_ASSISTANT_FILES: join(this.home, "files"),
      BELAY_GOALS_FILES: join(this.home, "goal_files"),
      // For webhooks that a test receives.
      BELAY_EGRESS_NETWORKS: "127.0.0.1",
      BELAY_EGRESS_PORTS: "any",
      ...this.variables,
    };
  }

  async run(listen) {
    const words = ["serve", "--listen", listen, ...this.options];
    this.child = spawn(this.program, words, {
      env: this.environment(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    this.url = await new Promise((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("exit", () => reject(new Error("The server has ended: " + text)));
      this.child.stderr.on("data", (piece) => {
        text = (text + piece).slice(-10_000);
        const found = text.match(/http:\/\/127\.0\.0\.1:\d+/);
        if (found) resolve(found[0]);
      });
    });
  }

  // Returns the output of another command on the store.
  command(...words) {
    return execFileSync(this.program, words, { env: this.environment(), encoding: "utf8" });
  }

  async kill() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await gone;
  }

  // Ends the server by SIGKILL, and starts it again on its port.
  async restart() {
    await this.kill();
    await this.run(new URL(this.url).host);
  }

  async remove() {
    await this.kill();
    rmSync(this.home, { recursive: true, force: true });
  }
}
