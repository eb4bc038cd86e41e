// Restate: its server with a new folder, its SDK in this process, runs started over HTTP.
//   node restate.mjs [--seconds=N]; BENCH_DIRECTORY: the folder for the server's data
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check, counted, measure, nodesPerRun, state } from './work.mjs';

// The SDK requires Node 22; with this function it runs on Node 20.
Promise.withResolvers ??= function withResolvers() {
  let resolve, reject;
  const promise = new Promise((yes, no) => { resolve = yes; reject = no; });
  return { promise, resolve, reject };
};
process.env.RESTATE_LOGGING ??= 'ERROR';
const restate = await import('@restatedev/restate-sdk');

const triesMax = 300;
const betweenTries = 100;

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => net.createServer());
  await Promise.all(servers.map((server) =>
    new Promise((done) => server.listen(0, '127.0.0.1', done))));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

const [ingress, admin, node, sdk] = await freePorts(4);
const parent = process.env.BENCH_DIRECTORY ?? '/var/tmp';
const folder = fs.mkdtempSync(path.join(parent, 'restate-'));
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
const binary = path.join(path.dirname(createRequire(import.meta.url).resolve(
  `@restatedev/restate-server-linux-${architecture}/package.json`)), 'bin', 'restate-server');
const logPath = path.join(folder, 'log');
const log = fs.openSync(logPath, 'w');
const server = spawn(binary,
  ['--no-logo', '--base-dir', path.join(folder, 'data'), '--node-name', 'bench'], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
      DO_NOT_TRACK: '1',
    },
  });
const hasEnded = new Promise((done) => server.on('exit', done));
process.on('exit', () => server.kill('SIGKILL'));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(1));

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
function call(port, method, where, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = text === '' ? {}
    : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((done, failed) => {
    const request = http.request({ host: '127.0.0.1', port, method, path: where, agent, headers },
      (response) => {
        let answer = '';
        response.setEncoding('utf8');
        response.on('data', (piece) => { answer += piece; });
        response.on('end', () => {
          if (response.statusCode < 400) done(answer);
          else failed(new Error(`${response.statusCode} ${where} ${answer}`));
        });
      });
    request.on('error', failed);
    request.setTimeout(120_000, () => request.destroy(new Error(`${where}: no answer`)));
    request.end(text);
  });
}

async function untilItWorks(what) {
  for (let tries = 1; ; tries++) {
    try {
      return await what();
    } catch (error) {
      if (tries === triesMax) {
        console.error(fs.readFileSync(logPath, 'utf8').slice(-2000));
        throw error;
      }
      await sleep(betweenTries);
    }
  }
}

const service = restate.service({
  name: 'bench',
  handlers: {
    line: async (context, page) => {
      for (let i = 1; i <= nodesPerRun; i++) {
        const before = page;
        page = await context.run(`node${i}`, () => counted(before));
      }
      return page;
    },
  },
});
const handler = restate.createEndpointHandler({ services: [service], logger: () => {} });
const endpoint = http2.createServer(handler);
await new Promise((done) => endpoint.listen(sdk, '127.0.0.1', done));
await untilItWorks(async () => {
  await call(admin, 'GET', '/health');
  await call(admin, 'POST', '/deployments', { uri: `http://127.0.0.1:${sdk}`, force: true });
});
const oneRun = async () => check(JSON.parse(await call(ingress, 'POST', '/bench/line', state())));
await untilItWorks(oneRun);

await measure('Restate (its own store)', 'each step before the next begins, its log synced', oneRun,
  server.pid);
server.kill('SIGTERM');
await Promise.race([hasEnded, sleep(5_000)]);
fs.rmSync(folder, { recursive: true, force: true });
process.exit(0);
