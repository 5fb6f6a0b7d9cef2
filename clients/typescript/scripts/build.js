// Builds dist/: the same sources as ES modules and as CommonJS, each with its own types.

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;
const compile = (...flags) => execFileSync(process.execPath, [tsc, "--project", root, ...flags], { stdio: "inherit" });

rmSync(`${root}dist`, { recursive: true, force: true });
compile("--outDir", `${root}dist/esm`);
compile(
  "--outDir",
  `${root}dist/cjs`,
  "--module",
  "commonjs",
  "--moduleResolution",
  "node10",
  "--verbatimModuleSyntax",
  "false",
);
// In this folder, Node and compilers treat `.js` as CommonJS.
writeFileSync(`${root}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
