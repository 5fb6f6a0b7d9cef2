// The mirror example, while its server's exports change.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SoftwareDirectory } from "software-directory";
import { PACKAGE, startDirectory } from "./harness.js";
import { binary } from "./hosts/binary.js";

let folder;
let server;

const product = (number, tagline) => ({
  id: `p${number}`,
  name: `Product ${number}`,
  url: `https://p${number}.example.org/`,
  evidence_status: "pending-review",
  tagline,
});

async function edit(software) {
  const text = JSON.stringify({ name: "Mirrored", license: "https://example.org/licence", software });
  await writeFile(join(folder, "next"), text);
  await rename(join(folder, "next"), join(folder, "data", "mirrored.json"));
}

before(async () => {
  folder = await mkdtemp(join(PACKAGE, "test/.mirror-"));
  await mkdir(join(folder, "data"));
});
after(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true });
});

test("a mirror converges while exports change under it", { timeout: 120_000 }, async () => {
  const range = (count, tagline) => Array.from({ length: count }, (_, number) => product(number, tagline));
  await edit(range(10, "first"));
  server = await startDirectory({ data: join(folder, "data"), options: ["--max-removed", "100"] });
  const file = join(folder, "copy.jsonl");
  const env = { ...process.env, SOFTWARE_DIRECTORY_URL: server.baseUrl, SOFTWARE_DIRECTORY_API_KEY: server.apiKey };
  const mirror = spawn(binary("Node 26"), [join(PACKAGE, "examples/mirror.ts"), file, "0.05"], { env });
  let printed = "";
  let complaints = "";
  mirror.stderr.on("data", (chunk) => (complaints += chunk));
  mirror.stdout.on("data", (chunk) => (printed += chunk));
  mirror.on("exit", () => mirror.stdout.emit("data", ""));
  const lines = async (count) => {
    while (printed.split("\n").length <= count) {
      assert.equal(mirror.exitCode, null, complaints);
      await once(mirror.stdout, "data");
    }
    return printed.split("\n")[count - 1];
  };
  try {
    assert.match(await lines(1), /^by export: 10 /);
    await edit([product(0, "changed"), ...range(9, "first").slice(1), product(99, "new")]);
    assert.match(await lines(2), /^by record: 10 /, "one changed, one removed, one added");
    await edit(range(150, "mass"));
    assert.match(await lines(3), /^by export: 150 /);
    await edit(range(149, "mass"));
    assert.match(await lines(4), /^by record: 149 /);
  } finally {
    mirror.kill();
  }
  const [, ...copy] = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const directory = new SoftwareDirectory(server);
  const served = [];
  for await (const { id } of directory.software.list({ limit: 100 })) served.push(await directory.software.get(id));
  const kept = (record) => Object.fromEntries(Object.keys(copy[0]).map((name) => [name, record[name]]));
  assert.deepEqual(
    copy,
    served.map(kept).sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
});
