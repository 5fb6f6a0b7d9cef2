// Runs all tests: `npm test`, or `npm test -- client` for those in test/client.test.js.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [major] = process.versions.node.split(".");
if (Number(major) < 20) {
  console.error(
    `The test tools need Node 20 or newer, but this is ${process.version}. The client itself is tested on Node 18.`,
  );
  process.exit(1);
}
const names = process.argv.slice(2);
const files = readdirSync(`${root}test`)
  .filter((name) => name.endsWith(".test.js") && (names.length === 0 || names.includes(name.replace(".test.js", ""))))
  .map((name) => `test/${name}`);
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-reporter=dot", "--test-reporter-destination=stdout", ...files],
  { cwd: root, stdio: "inherit" },
);
process.exit(status ?? 1);
