// Node, Deno and Bun: the suite is a program.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CASES, PACKAGE, run } from "../harness.js";
import { binary } from "./binary.js";

/** Runs the suite in a program and returns the results. `module` is the build to test, below dist/. */
async function runSuite(program, args, config, module = "esm/index.js") {
  // Makes the runtimes write their files to the checkout instead of the home folder.
  const env = {
    ...process.env,
    DENO_DIR: join(PACKAGE, "runtimes/node_modules/.deno"),
    DENO_NO_UPDATE_CHECK: "1",
    DO_NOT_TRACK: "1",
  };
  const argument = JSON.stringify({
    ...config,
    module: pathToFileURL(join(PACKAGE, "dist", module)).href,
    cases: CASES,
  });
  return JSON.parse(await run(program, [...args, join(PACKAGE, "test/suite/run.js"), argument], { env })).results;
}

export function runInNode(version, config, module) {
  return runSuite(binary(`Node ${version}`), [], config, module);
}

export function runInDeno(config) {
  // Allows network access, and reading the checkout and the arguments, but nothing else.
  const args = [
    "run",
    "--quiet",
    "--no-lock",
    "--no-config",
    "--allow-net=127.0.0.1",
    `--allow-read=${join(PACKAGE, "..")}`,
  ];
  return runSuite(binary("Deno"), args, config);
}

export function runInBun(config) {
  return runSuite(binary("Bun"), [], config);
}
