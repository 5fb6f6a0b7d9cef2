// The servers that the tests run against: the stub for the shared cases and the project's own binary.

import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startStub } from "../../conformance/stub.mjs";

/** The client's folder, and the checkout. */
export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
export const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));
export const CASES = join(CHECKOUT, "clients/conformance/cases.json");

/** Runs a program to its end and returns what it printed. An error includes what it wrote to standard error. */
export async function run(program, args, { input = "", ...options } = {}) {
  try {
    const running = promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024, ...options });
    running.child.stdin.end(input);
    const { stdout } = await running;
    return stdout;
  } catch (error) {
    throw new Error(`${program} ${args.slice(0, 3).join(" ")}: ${error.message}\n${error.stdout}\n${error.stderr}`);
  }
}

/** The path of a file that must exist, or an error that says how to get it. */
export function needed(path, remedy) {
  if (!existsSync(path)) throw new Error(`${path} is missing; get it with: ${remedy}`);
  return path;
}

export function serverBinary() {
  const target = process.env.CARGO_TARGET_DIR ?? join(CHECKOUT, "target");
  const binary = process.env.SOFTWARE_DIRECTORY_BIN ?? join(target, "debug/software-directory");
  return needed(binary, "cargo build");
}

/** Starts the real server on the project's own data, with a key file or else with a development key. */
export async function startDirectory({ keys, data, options = [] } = {}) {
  // A folder without a key file, to which the server writes its development key.
  const folder = mkdtempSync(join(tmpdir(), "software-directory-"));
  if (!data) {
    data = join(folder, "data");
    for (const source of ["data", "demo"]) cpSync(join(CHECKOUT, source), data, { recursive: true });
  }
  const args = [...options, "--data", data, "--index", "none", "--listen", "127.0.0.1:0", "--log", "error"];
  if (keys) args.push("--keys", keys);
  const child = spawn(serverBinary(), args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const started = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}:\n${output}`)));
    child.stdout.on("data", (chunk) => {
      output += chunk;
      const baseUrl = /Listening on (\S+)/.exec(output)?.[1];
      const apiKey = /Bearer (sd_dev_\w+)'/.exec(output)?.[1];
      if (baseUrl && (apiKey || keys)) resolve({ baseUrl, apiKey });
    });
  });
  return {
    ...started,
    close: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit").on("exit", () => {
          rmSync(folder, { recursive: true });
          resolve();
        });
        child.kill();
      }),
  };
}

/** The stub, the directory, and an address where nothing listens. */
export async function startAll() {
  const [stub, directory, closed] = await Promise.all([startStub(), startDirectory(), closedAddress()]);
  return {
    config: { stub: stub.base, closed, baseUrl: directory.baseUrl, apiKey: directory.apiKey },
    close: () => Promise.all([stub.close(), directory.close()]),
  };
}

async function closedAddress() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
