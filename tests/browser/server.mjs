// The real server, in a separate process on a free port.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const BINARY = process.env.SOFTWARE_DIRECTORY_BIN
  ?? join(resolve(CHECKOUT, process.env.CARGO_TARGET_DIR ?? 'target'), 'debug/software-directory');

/** A folder with the bundled exports and the demo records. */
export const DATA = mkdtempSync(join(tmpdir(), 'software-directory-data-'));
for (const folder of ['data', 'demo']) {
  cpSync(join(CHECKOUT, folder), DATA, { recursive: true, filter: (path) => !path.includes('meaning') });
}
process.on('exit', () => rmSync(DATA, { recursive: true, force: true }));
export const HOSTILE = join(import.meta.dirname, 'hostile');

/** Runs one of the binary's commands until it exits, and returns its standard output. */
export async function run(...args) {
  const child = spawn(BINARY, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((done, fail) => { child.on('close', done); child.on('error', fail); });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  const code = await ended;
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}`);
  return output;
}

/**
 * Starts a server. It gets a key file with a key that has this rate, and a spare one that has hardly any limit. With a
 * `rate` of null, or another command, there's a development key, and `serve` opens its pages to this machine. `options` are additional command-line options. `command` is a command to run instead of
 * `serve`; if `isReady` is false, the server may have nothing to serve.
 */
export async function start({ data = DATA, rate = '100000/min', listen = '127.0.0.1:0', options = [], command = null, isReady = true } = {}) {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing; build it with: cargo build`);
  const folder = mkdtempSync(join(tmpdir(), 'software-directory-'));
  const args = [...(command ?? ['--data', data, '--index', 'none']), '--listen', listen, ...options];
  let key = null;
  let spare = null;
  if (rate && !command) {
    const keys = join(folder, 'keys.json');
    const create = async (name, limit) => (await run('keys', 'create', '--keys', keys, '--name', name, '--rate', limit)).trim();
    key = await create('browser', rate);
    spare = await create('spare', '100000/min');
    args.push('--keys', keys);
  }
  const child = spawn(BINARY, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => { errors += chunk; });
  let url = null;
  let link = null;
  let shown = null;
  for await (const line of createInterface(child.stdout)) {
    url ??= /^Listening on (http:\/\/\S+)/.exec(line)?.[1] ?? null;
    link ??= /^Explore\s+(\S+)/.exec(line)?.[1] ?? null;
    shown ??= /Authorization: Bearer (\S+)'/.exec(line)?.[1] ?? null;
    if (url && link && shown) break;
  }
  child.stdout.resume();
  key ??= shown;
  if (!link) throw new Error(`The server did not start:\n${errors}`);
  if (isReady) await ready(url, () => errors);
  return {
    url,
    key,
    spare,
    link,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((done) => child.once('close', done));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(url, errors) {
  const until = Date.now() + 30_000;
  for (;;) {
    const response = await fetch(`${url}/readyz`).catch(() => null);
    if (response?.ok) return;
    if (Date.now() > until) throw new Error(`The server is not ready:\n${errors()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
