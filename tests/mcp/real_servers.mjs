// Belay's client with two official servers: by `belay mcp`, and by an agent. $PROGRAM is belay,
// $CLIENT is mcp_client.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

const packages = join(process.cwd(), 'node_modules/@modelcontextprotocol');
const filesystem = join(packages, 'server-filesystem/dist/index.js');
const everything = join(packages, 'server-everything/dist/index.js');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-peers-')));
const data = join(folder, 'data');

// Starts a program; `done` is its outcome.
function start(program, words, environment = {}) {
  const child = spawn(program, words, {env: {...process.env, ...environment}, cwd: folder});
  const outcome = {code: null, out: '', err: ''};
  child.stdout.on('data', (bytes) => { outcome.out += bytes; });
  child.stderr.on('data', (bytes) => { outcome.err += bytes; });
  const done = new Promise((resolve) => child.on('close', (code) => {
    outcome.code = code;
    resolve(outcome);
  }));
  return {child, outcome, done};
}

const stdio = (file, ...words) =>
    ['--program', process.execPath, ...[file, ...words].map((word) => `--argument=${word}`)];
const mcp = (...words) => start(process.env.PROGRAM, ['mcp', ...words]).done;
const agent = (tool, values, ...server) =>
    start(process.env.CLIENT, ['agent', tool, JSON.stringify(values), ...server]).done;

async function document(outcome) {
  const {code, out, err} = await outcome;
  assert.ok(out, `exit code ${code}: ${err}`);
  return JSON.parse(out);
}

async function until(condition, which) {
  for (let i = 0; i < 600; ++i) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`not within a minute: ${which}`);
}

async function freePort() {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.listen(0, '127.0.0.1', () => {
      const {port} = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

let remote;
let url;

before(async () => {
  mkdirSync(data);
  writeFileSync(join(data, 'note.txt'), 'good morning\n');
  const port = await freePort();
  url = `http://127.0.0.1:${port}/mcp`;
  remote = start(process.execPath, [everything, 'streamableHttp'], {PORT: `${port}`});
  await until(() => /listening on port/.test(remote.outcome.err), 'the server over HTTP');
});

after(() => {
  remote.child.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});

test('the tools of a program are listed with the effects of their hints', async () => {
  const {server, tools} = await document(mcp('list', '--json', ...stdio(filesystem, data)));
  assert.equal(server.protocol, '2025-11-25');
  const effects = Object.fromEntries(tools.map(({name, effect}) => [name, effect]));
  assert.equal(effects.read_text_file, 'reads');
  assert.notEqual(effects.write_file, 'reads');
});

test('a file is read, and a path outside of the folder is an error', async () => {
  const read = await mcp('try', 'read_text_file', JSON.stringify({path: join(data, 'note.txt')}),
                         ...stdio(filesystem, data));
  assert.equal(read.code, 0, read.err);
  assert.match(read.out, /good morning/);
  const outside = await mcp('try', 'read_text_file', '{"path":"/etc/passwd"}', '--json',
                            ...stdio(filesystem, data));
  assert.equal(outside.code, 1);
  assert.equal(JSON.parse(outside.out).isError, true);
  const unknown = await mcp('try', 'no-such-tool', ...stdio(filesystem, data));
  assert.equal(unknown.code, 1, unknown.out);
});

test('tools equal their pins, until a description changes', async () => {
  const pins = join(folder, 'pins.json');
  const words = ['check', '--pins', pins, ...stdio(filesystem, data)];
  assert.equal((await mcp(...words, '--accept')).code, 0);
  assert.equal((await mcp(...words)).code, 0);
  const stored = JSON.parse(readFileSync(pins, 'utf8'));
  const {tools} = stored.servers.server;
  tools.read_text_file.description = tools.write_file.description;
  delete tools.list_directory;
  writeFileSync(pins, JSON.stringify(stored));
  const {differences} = await document(mcp(...words, '--json'));
  assert.deepEqual(differences.map(({change, tool}) => `${change} ${tool}`).sort(),
                   ['added list_directory', 'changed read_text_file']);
});

test('an agent uses the tools of a program', async () => {
  const server = [process.execPath, filesystem, data];
  const read = await document(
      agent('peer__read_text_file', {path: join(data, 'note.txt')}, ...server));
  assert.equal(read.status, 'completed');
  assert.match(read.text, /good morning/);
  assert.equal(read.untrusted, true);
  const outside = await document(agent('peer__read_text_file', {path: '/etc/passwd'}, ...server));
  assert.equal(outside.isError, true);
  assert.equal(outside.status, 'completed');
});

test('a server over HTTP is used, and its session ended', async () => {
  const {server, tools} = await document(mcp('list', '--json', '--url', url));
  assert.equal(server.protocol, '2025-11-25');
  assert.ok(tools.some(({name}) => name === 'echo'));
  await until(() => /session termination request/.test(remote.outcome.out), 'the end of a session');
  const echo = await mcp('try', 'echo', '{"message":"hello"}', '--url', url);
  assert.equal(echo.code, 0, echo.err);
  assert.match(echo.out, /Echo: hello/);
  const wrong = await mcp('try', 'echo', '{"message":7}', '--url', url);
  assert.equal(wrong.code, 1);
  const sum = await document(agent('peer__get-sum', {a: 19, b: 23}, '--url', url));
  assert.match(sum.text, /42/);
});

test('progress is shown over stdio and HTTP', async () => {
  for (const server of [stdio(everything, 'stdio'), ['--url', url]]) {
    const {code, out, err} = await mcp(
        'try', 'trigger-long-running-operation', '{"duration":0.6,"steps":3}', ...server);
    assert.equal(code, 0, err);
    assert.match(out, /completed/i);
    assert.match(err, /of 3/);
  }
});

test('a form is filled in over stdio and HTTP, with its defaults', async () => {
  for (const server of [stdio(everything, 'stdio'), ['--url', url]]) {
    const accepted = await mcp('try', 'trigger-elicitation-request', '--input', '{"name":"Ada"}',
                               ...server);
    assert.equal(accepted.code, 0, accepted.err);
    assert.match(accepted.out, /Name: Ada/);
    assert.match(accepted.out, /Favorite Integer: 42/);
    const incomplete = await mcp('try', 'trigger-elicitation-request', '--input', '{}', ...server);
    assert.equal(incomplete.code, 2);
    assert.match(incomplete.err, /does not fit its form/);
  }
});

test('the death of a program in the middle of a call is an error', async () => {
  const call = start(process.env.PROGRAM,
                     ['mcp', 'try', 'trigger-long-running-operation', '{"duration":600,"steps":6000}',
                      ...stdio(everything, 'stdio')]);
  await until(() => /of 6000/.test(call.outcome.err), 'progress');
  const {pid} = call.child;
  const [server] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  process.kill(Number(server), 'SIGKILL');
  const {code, err} = await call.done;
  assert.notEqual(code, 0);
  assert.match(err, /signal 9/);
});

test('the death of a server over HTTP in the middle of a call is an error', async () => {
  const call = start(process.env.PROGRAM,
                     ['mcp', 'try', 'trigger-long-running-operation', '{"duration":600,"steps":6000}',
                      '--url', url]);
  await until(() => /of 6000/.test(call.outcome.err), 'progress');
  remote.child.kill('SIGKILL');
  const {code, err} = await call.done;
  assert.notEqual(code, 0);
  assert.match(err, /did not reply to tools\/call/);
});
