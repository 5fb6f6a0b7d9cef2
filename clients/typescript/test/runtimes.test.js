// The same suite in every runtime that the README lists: the shared cases against the stub, and every operation against
// the real server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { CASES, startAll } from "./harness.js";
import { runInChromium } from "./hosts/chromium.js";
import { runInBun, runInDeno, runInNode } from "./hosts/process.js";
import { runInWorkerd } from "./hosts/workerd.js";

const { cases } = JSON.parse(readFileSync(CASES, "utf8"));
let servers;

before(async () => {
  servers = await startAll();
});
after(() => servers?.close());

const RUNTIMES = {
  "Node 18": (config) => runInNode(18, config),
  "Node 18 with CommonJS": (config) => runInNode(18, config, "cjs/index.js"),
  "Node 26": (config) => runInNode(26, config),
  Deno: runInDeno,
  Bun: runInBun,
  workerd: runInWorkerd,
  Chromium: runInChromium,
};

for (const [name, runSuite] of Object.entries(RUNTIMES)) {
  test(`${name} passes the suite`, async () => {
    const results = await runSuite(servers.config);
    const failures = results.filter(({ failure }) => failure).map((one) => `${one.name}\n  ${one.failure}`);
    assert.ok(failures.length === 0, `${failures.length} of ${results.length} checks failed:\n${failures.join("\n")}`);
    assert.ok(
      results.length > cases.length,
      `${results.length} checks ran, but the shared cases alone are ${cases.length}`,
    );
  });
}
