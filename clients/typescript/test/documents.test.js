// The examples and the README are compiled, and run as they are against the real server.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PACKAGE, run, startDirectory } from "./harness.js";
import { binary } from "./hosts/binary.js";

const EXAMPLES = join(PACKAGE, "examples");
// What each example must print.
const OUTPUT = {
  "attributes-list.ts": /^ +\d+ {2}Standards \(standards, text\)$/m,
  "categories-get.ts": /^.+: \d+ products\n$/,
  "categories-list.ts": /^ +\d+ {2}\S.* \([a-z0-9-]+\)$/m,
  "changes-since.ts": /^up to date with [0-9a-f]{16}\ntoo old: download the exports\n$/,
  "errors.ts": /^404 software_not_found \w+\nlimit: .+\nfalse changed my mind\n$/,
  "exports-download.ts": /: (\d+) records in (\d+) bytes\n(?:\d+ of \2 bytes\n)+wrote .+\n\1 records, line by line\n$/,
  "exports-list.ts": /^demo: \d+ products, \d+ bytes, https:/m,
  "glossary-get.ts": /^CAPA: .+/,
  "glossary-list.ts": /^CAPA: .+/,
  "mirror.ts": /^by export: \d+ products from generation [0-9a-f]{16}\n$/,
  "reviews-list.ts": /^\d+ reviews, average [\d.]+; from 0\n {2}\*+ /,
  "search-products.ts": /<mark>[^<]*permit[^]*\d+ in .+\n\d+ products; not found: /i,
  "software-get.ts": /^.+ by .+\n[^]*from .+ https:/,
  "software-history.ts": /^recorded since .+Z\n/,
  "software-list.ts": /^\S.* {2}https:\/\/.+$/m,
  "software-similar.ts": /^similar to .+:\n(?: {2}.+: .+\n){3}$/,
  "suggest.ts": /^category .+ \(\d+\)$/m,
};

const prelude = `import { SoftwareDirectory } from "software-directory";
const directory = new SoftwareDirectory({ apiKey: process.env.SOFTWARE_DIRECTORY_API_KEY!, baseUrl: process.env.SOFTWARE_DIRECTORY_URL! });
`;

let directory;
let env;
let folder;

before(async () => {
  directory = await startDirectory();
  env = { ...process.env, SOFTWARE_DIRECTORY_URL: directory.baseUrl, SOFTWARE_DIRECTORY_API_KEY: directory.apiKey };
  // The folder is inside the package, so that the package can be imported by name.
  folder = await mkdtemp(join(PACKAGE, "test/.readme-"));
});
after(async () => {
  await directory?.close();
  if (folder) await rm(folder, { recursive: true });
});

test("each operation has an example, and each example has a known output", async () => {
  assert.deepEqual((await readdir(EXAMPLES)).sort(), Object.keys(OUTPUT));
});

for (const [name, pattern] of Object.entries(OUTPUT)) {
  test(`example ${name}`, async () => {
    assert.match(await run(binary("Node 26"), [join(EXAMPLES, name), join(folder, "copy.jsonl")], { env }), pattern);
  });
}

test("the README's code runs, and prints what it finds", async () => {
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code);
  assert.equal(blocks.length, 10);
  for (const [n, code] of blocks.entries()) {
    const file = join(folder, `block-${n}.ts`);
    await writeFile(file, code.includes("import { SoftwareDirectory") ? code : prelude + code);
    assert.notEqual(await run(binary("Node 26"), [file], { env }), "", code);
  }
});

test("examples and README compile", async () => {
  const files = [...Object.keys(OUTPUT).map((name) => join(EXAMPLES, name))];
  const own = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  for (const name of own) files.push(join(folder, name));
  const flags = [
    "--noEmit",
    "--strict",
    "--noUncheckedIndexedAccess",
    "--target",
    "es2022",
    "--lib",
    "esnext",
    "--module",
    "nodenext",
    "--types",
    "node",
  ];
  await run(process.execPath, [join(PACKAGE, "node_modules/typescript/bin/tsc"), ...flags, ...files], { cwd: PACKAGE });
});
