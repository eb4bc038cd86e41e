// The store of a test: $STORE is "sqlite" (default) or "postgres". The test starts a PostgreSQL of
// $POSTGRES_BIN in a temporary folder, not as root, reached through a socket in that folder.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NOBODY = 65534;
const START_TIME = 60_000;

async function startPostgres(folder) {
  const bin = process.env.POSTGRES_BIN;
  const as = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const place = join(folder, "postgres");
  const data = join(place, "data");
  mkdirSync(place);
  chmodSync(folder, 0o711);
  if (as.uid) chownSync(place, as.uid, as.gid);
  const options = { ...as, cwd: place, env: { PATH: process.env.PATH, LC_ALL: "C" } };
  const initialize = ["--pgdata", data, "--username", "belay", "--auth", "trust", "--no-sync"];
  execFileSync(join(bin, "initdb"), [...initialize, "--encoding", "UTF8", "--locale", "C"], options);
  appendFileSync(
    join(data, "postgresql.conf"),
    `listen_addresses = ''\nunix_socket_directories = '${place}'\nfsync = ${process.env.FSYNC ?? "off"}\n`,
  );
  const child = spawn(join(bin, "postgres"), ["-D", data], { ...options, stdio: "ignore" });
  const until = Date.now() + START_TIME;
  while (true) {
    try {
      const query = ["-h", place, "-U", "belay", "-d", "postgres", "-c", "SELECT 1"];
      execFileSync(join(bin, "psql"), query, { ...options, stdio: "ignore" });
      return { child, url: `postgresql:///postgres?user=belay&host=${encodeURIComponent(place)}` };
    } catch (failure) {
      if (child.exitCode !== null || Date.now() > until) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Makes an empty store: its URL, a folder for a server's home, and `remove()`. */
export async function makeStore() {
  const home = mkdtempSync(join(tmpdir(), "belay-langgraph-"));
  if (process.env.STORE !== "postgres") {
    const remove = () => rmSync(home, { recursive: true, force: true });
    return { home, url: "sqlite:" + join(home, "belay.db"), remove };
  }
  const { child, url } = await startPostgres(home);
  const kill = () => child.kill("SIGQUIT");
  process.once("exit", kill);
  async function remove() {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    kill();
    await gone;
    process.removeListener("exit", kill);
    rmSync(home, { recursive: true, force: true });
  }
  return { home, url, remove };
}
