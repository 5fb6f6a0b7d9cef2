// Node, Deno and Bun: the suite is a program.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CASES, needed, PACKAGE, run, RUNTIMES } from "../harness.js";

const install = "npm ci --prefix clients/typescript/runtimes";

/** Runs the suite in a program and returns the results. `module` is the build to test, below dist/. */
async function runSuite(program, args, config, module = "esm/index.js") {
  const argument = JSON.stringify({ ...config, module: pathToFileURL(join(PACKAGE, "dist", module)).href, cases: CASES });
  return JSON.parse(await run(program, [...args, join(PACKAGE, "test/suite/run.js"), argument])).results;
}

/** Path of a version of Node that npm brought. */
export function nodeBinary(version) {
  const name = `node-${version}-${process.platform}-${process.arch}`;
  const remedy = `${install}, or where that leaves it out: npm install --no-save --prefix clients/typescript/runtimes ${name}@npm:node-${process.platform}-${process.arch}@${version}`;
  return needed(join(RUNTIMES, name, "bin/node"), remedy);
}

export function runInNode(version, config, module) {
  return runSuite(nodeBinary(version), [], config, module);
}

export function runInDeno(config) {
  // Network, and reading of the checkout and the arguments; nothing else.
  const args = ["run", "--quiet", "--no-lock", "--no-config", "--allow-net=127.0.0.1", `--allow-read=${join(PACKAGE, "..")}`];
  return runSuite(needed(join(RUNTIMES, ".bin/deno"), install), args, config);
}

export function runInBun(config) {
  return runSuite(needed(join(RUNTIMES, ".bin/bun"), install), [], config);
}
