// The published package: its size, its files, and whether it can be installed, imported and compiled against.

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { PACKAGE, run } from "./harness.js";
import { binary } from "./hosts/binary.js";

const PUBLIC_VALUES = [
  "ApiConnectionError",
  "ApiError",
  "ApiTimeoutError",
  "AuthenticationError",
  "GenerationChangedError",
  "GoneError",
  "InvalidRequestError",
  "InvalidResponseError",
  "NotFoundError",
  "PermissionDeniedError",
  "RateLimitError",
  "ServerError",
  "SoftwareDirectory",
];
const LIMIT_BYTES = 6000;
const tool = (path) => join(PACKAGE, "node_modules", path);
const node = process.execPath;

let folder;
let tarball;
let files;

// Packs once, and installs the tarball in a folder outside the checkout.
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "software-directory-"));
  const [packed] = JSON.parse(
    await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: PACKAGE }),
  );
  files = packed.files.map(({ path }) => path);
  tarball = join(folder, packed.filename);
  await writeFile(join(folder, "package.json"), '{ "name": "consumer", "private": true }\n');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: folder });
});
after(() => folder && rm(folder, { recursive: true }));

/** Bundles a program for browsers, as an application would. */
async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    write: false,
    logOverride: { "ignored-bare-import": "silent" },
  });
  return outputFiles[0].text;
}

test("the whole client is under 6 kB, minified and gzipped", async (context) => {
  const text = await bundle('export * from "software-directory";');
  const bytes = gzipSync(text, { level: 9 }).length;
  context.diagnostic(`${bytes} bytes minified and gzipped, ${text.length} minified`);
  assert.ok(bytes < LIMIT_BYTES, `${bytes} bytes`);
});

test("unused code isn't bundled", async () => {
  assert.equal((await bundle('import "software-directory";')).trim(), "");
  const errors = await bundle('import { NotFoundError } from "software-directory"; console.log(NotFoundError);');
  assert.match(errors, /NotFoundError/);
  for (const unused of ["authorization", "RateLimitError", "glossary"]) assert.ok(!errors.includes(unused), unused);
});

test("the package contains the build and its documents, and nothing else", () => {
  const documents = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"];
  assert.deepEqual(
    files.filter((path) => !/^dist\/(esm|cjs)\/.*\.(js|d\.ts)$/.test(path)),
    [...documents, "dist/cjs/package.json"].sort(),
  );
});

test("the client sends the package's version", async () => {
  const { version } = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8"));
  assert.equal((await import("../dist/esm/version.js")).VERSION, version);
});

test("the package has no dependencies", async () => {
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
    await readFile(join(PACKAGE, "package.json"), "utf8"),
  );
  assert.deepEqual(
    { dependencies, peerDependencies, optionalDependencies },
    { dependencies: undefined, peerDependencies: undefined, optionalDependencies: undefined },
  );
  const { packages } = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  assert.deepEqual(Object.keys(packages), ["", "node_modules/software-directory"]);
});

for (const version of [18, 26]) {
  test(`Node ${version} imports and requires the installed package`, async () => {
    const names =
      "console.log(JSON.stringify([Object.keys(sdk).filter((name) => name !== 'module.exports').sort(), String(new sdk.SoftwareDirectory({ apiKey: 'k', baseUrl: 'https://d.example' }))]))";
    await writeFile(join(folder, "esm.mjs"), `import * as sdk from "software-directory"; ${names}`);
    await writeFile(join(folder, "cjs.cjs"), `const sdk = require("software-directory"); ${names}`);
    for (const file of ["esm.mjs", "cjs.cjs"]) {
      assert.deepEqual(
        JSON.parse(await run(binary(`Node ${version}`), [join(folder, file)])),
        [PUBLIC_VALUES, "[object Object]"],
        file,
      );
    }
  });
}

test("private modules can't be reached", async () => {
  await assert.rejects(
    run(node, ["-e", 'require("software-directory/dist/cjs/request.js")'], { cwd: folder }),
    /ERR_PACKAGE_PATH_NOT_EXPORTED/,
  );
});

for (const [compiler, path] of [
  ["TypeScript 5.9", "typescript/bin/tsc"],
  ["TypeScript 7", "typescript-newest/bin/tsc"],
]) {
  for (const [kind, extension, module] of [
    ["ES modules", "mts", "nodenext"],
    ["CommonJS", "cts", "nodenext"],
    ["bundlers", "ts", "esnext"],
  ]) {
    test(`${compiler} knows the types from ${kind}`, async () => {
      const file = join(folder, `surface.${extension}`);
      await cp(join(PACKAGE, "test/surface.ts"), file);
      const resolution = module === "esnext" ? "bundler" : module;
      const flags = [
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--noUncheckedIndexedAccess",
        "--target",
        "es2022",
      ];
      await run(
        node,
        [
          tool(path),
          ...flags,
          "--lib",
          "es2022,dom,dom.iterable",
          "--module",
          module,
          "--moduleResolution",
          resolution,
          file,
        ],
        { cwd: folder },
      );
    });
  }
}

for (const [kind, extension, module, resolution] of [
  ["ES modules", "mts", "node16", "node16"],
  ["CommonJS", "cts", "node16", "node16"],
  ["bundlers", "ts", "esnext", "bundler"],
]) {
  test(`TypeScript 5.0 knows the types from ${kind}`, async () => {
    const file = join(folder, `surface.${extension}`);
    await cp(join(PACKAGE, "test/surface.ts"), file);
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "false", "--exactOptionalPropertyTypes"];
    const libraries = ["--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
    await run(
      node,
      [
        tool("typescript-oldest/bin/tsc"),
        ...flags,
        "--noUncheckedIndexedAccess",
        ...libraries,
        "--module",
        module,
        "--moduleResolution",
        resolution,
        file,
      ],
      { cwd: folder },
    );
  });
}

test("Node's types are enough if the browser's aren't available", async () => {
  const file = join(folder, "surface.mts");
  await cp(join(PACKAGE, "test/surface.ts"), file);
  const types = ["--types", "node", "--typeRoots", tool("@types"), "--lib", "es2022"];
  await run(
    node,
    [
      tool("typescript/bin/tsc"),
      "--noEmit",
      "--strict",
      "--noUncheckedIndexedAccess",
      "--module",
      "nodenext",
      ...types,
      file,
    ],
    { cwd: folder },
  );
});

test("the sources are formatted (if not: npm run format)", async () => {
  await run(node, [tool("prettier/bin/prettier.cjs"), "--check", "."], { cwd: PACKAGE });
});

test("publint finds no problem", async () => {
  await run(node, [tool("publint/src/cli.js"), tarball, "--strict"]);
});

test("the types are right (arethetypeswrong)", async () => {
  await run(node, [tool("@arethetypeswrong/cli/dist/index.js"), tarball, "--no-emoji"]);
});
