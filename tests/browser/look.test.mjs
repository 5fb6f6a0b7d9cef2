// How it looks and weighs: accessibility, layout that stays, bytes of the first view, and pictures for people.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibility, DESKTOP, launch, open, PHONE, settled } from './browser.mjs';
import { start } from './server.mjs';

const SHOTS = join(import.meta.dirname, 'shots');
const MOST_BYTES = 100_000;

let server;
let browser;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  [server, browser] = await Promise.all([start(), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); });

const VIEWS = {
  search: '/', results: '/?q=incdent+reporting', nothing: '/?q=xyzzyplugh', product: '/software/demo-hedgehog-ehs', old: '/software/demo-molecule-mole',
  categories: '/categories', glossary: '/glossary', exports: '/exports', missing: '/software/no-such-thing',
};
const DOCS = ['/docs', '/docs/export-format', '/docs/errors', '/docs/errors#rate_limited', '/docs/versioning', '/docs/reference', '/no/such/page'];

for (const viewport of [DESKTOP, PHONE]) {
  for (const scheme of ['light', 'dark']) {
    test(`axe finds nothing at ${viewport.width} pixels, ${scheme}`, async () => {
      const { page, visit, close } = await open(browser, server, { viewport, scheme, bypassCSP: true, reducedMotion: 'reduce', expected: [/404/] });
      // The reference is up to 48,000 pixels high: on a busy machine its picture takes more than the ten seconds of an action.
      const shot = (name) => page.screenshot({ path: join(SHOTS, `${name}-${viewport.width}-${scheme}.png`), fullPage: true, timeout: 60_000 });
      await page.goto(server.url);
      await settled(page);
      assert.deepEqual(await accessibility(page), [], 'without a key');
      await shot('key');
      for (const [name, path] of Object.entries(VIEWS)) {
        await visit(path);
        if (name === 'results') await page.locator('details.call summary').click();
        if (name === 'results' && viewport === PHONE) await page.getByRole('button', { name: 'Filters' }).click();
        assert.deepEqual(await accessibility(page), [], name);
        await shot(name);
        if (name === 'results') await page.locator('details.call summary').click();
      }
      for (const path of DOCS) {
        await page.goto(server.url + path);
        await page.evaluate(() => document.querySelectorAll('.operation').forEach((details) => { details.open = true; }));
        assert.deepEqual(await accessibility(page), [], path);
        await shot(path.slice(1).replace(/[/#]/g, '-'));
      }
      await close();
    });
  }
}

test('the first view weighs under 100 kB in all', async () => {
  const { page, requests, close } = await open(browser, server);
  await page.goto(`${server.url}/#key=${server.key}`);
  await settled(page);
  const sizes = await Promise.all(requests.map(async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    return responseBodySize + responseHeadersSize;
  }));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(requests.length > 20);
  console.log(`first view: ${requests.length} requests, ${bytes} bytes`);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  await close();
});

for (const viewport of [DESKTOP, PHONE]) {
  test(`nothing moves while answers load, at ${viewport.width} pixels`, async () => {
    const { page, close } = await open(browser, server, { viewport });
    await page.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifts.push({ value: entry.value, sources: entry.sources.map(({ node }) => node?.className ?? node?.nodeName) });
      }).observe({ type: 'layout-shift', buffered: true });
    });
    // Answers that take their time, as over a slow line.
    await page.route('**/v1/**', async (route) => {
      await new Promise((done) => setTimeout(done, 400));
      await route.continue();
    });
    for (const path of ['/', '/?q=audit', '/categories', '/glossary', '/exports', '/software/demo-hedgehog-ehs']) {
      // From another document, so that it is loaded anew.
      await page.goto(`${server.url}/docs/versioning`);
      await page.goto(`${server.url}${path}#key=${server.key}`);
      await settled(page);
      const shifts = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifts)))));
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      assert.ok(sum < 0.01, `${path}: ${sum} ${JSON.stringify(shifts)}`);
    }
    await close();
  });
}
