#!/usr/bin/env node
// Runs the binary in the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const names = [platform, `${platform}-musl`].map((name) => `software-directory-server-${name}`);

function binary() {
  for (const name of names) {
    try {
      return require.resolve(`${name}/software-directory`);
    } catch {
      // npm installs only the package that matches the C library.
    }
  }
  console.error(`error: the package ${names[0]} is missing; install software-directory-server again without --omit=optional`);
  process.exit(1);
}

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
// A terminal sends SIGINT to both processes.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
