// Chromium, and pages in it that may only talk to one host.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** A name for this machine. Unlike its address, it isn't a secure context, just like a site served over plain HTTP. */
export const NAME = 'directory.test';
const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  // One name resolves to this machine. No other host resolves, and each attempt is recorded.
  `--host-resolver-rules=MAP ${NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
];

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

export async function launch() {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing; install it with: sudo apt-get install chromium`);
  // Playwright gives each launch a new, empty folder for user data.
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

/**
 * Opens a page in its own context. It records everything that goes wrong: requests to other hosts, violations of the
 * content security policy, exceptions and error messages. `close` asserts that nothing unexpected went wrong.
 */
export async function open(browser, server, { viewport = DESKTOP, scheme = 'light', bypassCSP = false, expected = [], ...context } = {}) {
  const opened = await browser.newContext({ viewport, colorScheme: scheme, bypassCSP, ...context });
  opened.setDefaultTimeout(10_000);
  const wrong = [];
  const requests = [];
  opened.on('request', (request) => {
    requests.push(request);
    const { origin, protocol } = new URL(request.url());
    if (origin !== server.url && !['data:', 'blob:'].includes(protocol)) wrong.push(`request to ${request.url()}`);
  });
  const page = await opened.newPage();
  page.on('websocket', (socket) => wrong.push(`socket to ${socket.url()}`));
  page.on('pageerror', (error) => wrong.push(`exception: ${error}`));
  page.on('dialog', (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/i.test(message.text())) wrong.push(`console: ${message.text()}`);
  });
  return {
    page,
    requests,
    /** Goes to an address on the server, signed in. */
    async visit(path) {
      if (server.key && (await opened.cookies()).length === 0) await signIn(opened, server);
      const response = await page.goto(server.url + path);
      await settled(page);
      return response;
    },
    async close() {
      await opened.close();
      assert.deepEqual(wrong.filter((text) => !expected.some((pattern) => pattern.test(text))), []);
    },
  };
}

/** Gives a context the session cookie that the form sets. */
async function signIn(context, server) {
  const body = new URLSearchParams({ key: server.key });
  const { headers } = await fetch(`${server.url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
  const [name, value] = headers.get('set-cookie')?.split(';')[0].split('=') ?? [];
  if (name) await context.addCookies([{ name, value, url: server.url }]);
}

/** Waits until nothing on the page is loading. */
export async function settled(page) {
  await page.waitForLoadState('load');
  await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
}

/** The problems that axe finds, one line each. The page must have been opened with `bypassCSP`. */
export async function accessibility(page, { exclude = [] } = {}) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate((excluded) => window.axe.run({ exclude: excluded }, { resultTypes: ['violations'] }), exclude.map((selector) => [selector]));
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 160)} ${node.failureSummary?.split('\n')[1] ?? ''}`));
}

/** Saves a screenshot of the whole page in `shots/` for people to look at, if `SHOTS` is set. */
export async function shoot(page, name) {
  if (!process.env.SHOTS) return;
  // The reference is up to 48,000 pixels high, and on a busy machine its screenshot takes longer
  // than an action's ten-second timeout.
  await page.screenshot({ path: join(import.meta.dirname, 'shots', `${name}.png`), fullPage: true, timeout: 60_000 });
}
