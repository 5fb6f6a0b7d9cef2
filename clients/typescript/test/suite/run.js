// The suite as a program for Node, Deno and Bun. Its one argument is the configuration as JSON; it prints the results.

import { inspect } from "node:util";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { report } from "./check.js";
import { conformanceChecks } from "./conformance.js";
import { directoryChecks } from "./directory.js";

const { module, cases, ...config } = JSON.parse(process.argv[2]);
const sdk = await import(module);
const document = JSON.parse(await readFile(cases, "utf8"));
const results = await report([
  ...conformanceChecks({
    ...config,
    sdk,
    document,
    inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
  }),
  ...directoryChecks({ ...config, sdk }),
]);
process.stdout.write(JSON.stringify({ results }));
