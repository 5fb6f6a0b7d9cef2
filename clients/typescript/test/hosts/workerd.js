// workerd, the runtime of Cloudflare Workers: the suite is a worker that loads the unbundled files.

import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CASES, PACKAGE } from "../harness.js";
import { binary } from "./binary.js";

export async function runInWorkerd(config) {
  const folder = await mkdtemp(join(tmpdir(), "workerd-"));
  try {
    await writeFile(join(folder, "config.capnp"), await configText(folder, config));
    const child = spawn(binary("workerd"), ["serve", join(folder, "config.capnp"), "--control-fd=3"], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    try {
      const response = await fetch(`http://127.0.0.1:${await port(child)}/`);
      return (await response.json()).results;
    } finally {
      child.kill();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The port that workerd chose, as reported on its control channel. */
function port(child) {
  return new Promise((resolve, reject) => {
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`workerd ended with ${code}:\n${errors}`)));
    let events = "";
    child.stdio[3].on("data", (chunk) => {
      events += chunk;
      const match = /"port":(\d+)/.exec(events);
      if (match) resolve(Number(match[1]));
    });
  });
}

async function configText(folder, config) {
  const embed = (path) => JSON.stringify(relative(folder, path));
  const sources = (await readdir(join(PACKAGE, "dist/esm"), { recursive: true })).filter((name) =>
    name.endsWith(".js"),
  );
  const files = [
    "test/hosts/worker.js",
    ...["check", "conformance", "directory"].map((name) => `test/suite/${name}.js`),
  ];
  for (const name of sources) files.push(`dist/esm/${name}`);
  // The first module is the worker itself.
  const modules = files.map(
    (name) => `(name = ${JSON.stringify(name)}, esModule = embed ${embed(join(PACKAGE, name))})`,
  );
  modules.push(`(name = "test/hosts/cases.json", json = embed ${embed(CASES)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "suite", worker = .suite),
    (name = "network", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "suite")],
);
const suite :Workerd.Worker = (
  modules = [
    ${modules.join(",\n    ")}
  ],
  bindings = [(name = "CONFIG", json = ${JSON.stringify(JSON.stringify(config))})],
  globalOutbound = "network",
  compatibilityDate = "2026-11-01",
);
`;
}
