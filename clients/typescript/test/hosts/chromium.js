// Chromium: the suite is a page that loads the unbundled modules. Page, stub and directory are on different origins, so
// CORS must allow each of the client's requests.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";
import { CASES, needed, PACKAGE } from "../harness.js";

const TYPES = { ".js": "text/javascript", ".json": "application/json" };
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
];

export async function runInChromium(config) {
  const executablePath = needed(
    process.env.CHROMIUM ?? "/usr/bin/chromium",
    "sudo apt-get install chromium (or set CHROMIUM to its path)",
  );
  const site = await startSite();
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const page = await browser.newPage();
    await page.goto(site.base);
    return await page.evaluate(async (config) => {
      const [sdk, { report }, { conformanceChecks }, { directoryChecks }, document] = await Promise.all([
        import("/dist/esm/index.js"),
        import("/test/suite/check.js"),
        import("/test/suite/conformance.js"),
        import("/test/suite/directory.js"),
        fetch("/cases.json").then((response) => response.json()),
      ]);
      return report([...conformanceChecks({ ...config, sdk, document }), ...directoryChecks({ ...config, sdk })]);
    }, config);
  } finally {
    await browser.close();
    await site.close();
  }
}

async function startSite() {
  const server = createServer(async (request, response) => {
    if (request.url === "/") {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>Suite</title>");
      return;
    }
    const path = request.url === "/cases.json" ? CASES : join(PACKAGE, normalize(request.url));
    try {
      const body = await readFile(path);
      response.setHeader("content-type", TYPES[extname(path)] ?? "text/plain");
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    base: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
