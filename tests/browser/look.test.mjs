// Appearance and weight: accessibility, layout stability, size of the first view, and screenshots
// for people.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { accessibility, DESKTOP, launch, open, PHONE, shoot } from './browser.mjs';
import { start } from './server.mjs';

const MOST_BYTES = 60_000;
const MOST_FILES = 12;

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([start(), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); });

const VIEWS = {
  home: '/', products: '/?q=', results: '/?q=incdent+reporting', filtered: '/?q=audit&category=audit-management&min_rating=3', nothing: '/?q=xyzzyplugh+audit&category=ehs-management',
  product: '/software/demo-hedgehog-ehs', old: '/software/demo-molecule-mole', categories: '/categories', category: '/categories/ehs-management',
  glossary: '/glossary', compare: '/compare?id=demo-hedgehog-ehs&id=demo-permit-penguin&id=demo-molecule-mole', exports: '/exports', missing: '/software/no-such-thing',
};
const DOCS = ['/docs', '/docs/export-format', '/docs/errors', '/docs/errors#rate_limited', '/docs/versioning', '/docs/reference', '/no/such/page'];

for (const viewport of [DESKTOP, PHONE]) {
  for (const scheme of ['light', 'dark']) {
    test(`axe finds nothing at ${viewport.width} pixels, ${scheme}`, async () => {
      const { page, visit, close } = await open(browser, server, { viewport, scheme, bypassCSP: true, reducedMotion: 'reduce', expected: [/404/] });
      const shot = (name) => shoot(page, `${name}-${viewport.width}-${scheme}`);
      await page.goto(server.url);
      assert.deepEqual(await accessibility(page), [], 'signing in');
      await shot('sign-in');
      for (const [name, path] of Object.entries(VIEWS)) {
        await visit(path);
        // The API request is opened on two pages: one with headings before it, and one without.
        const isOpened = name === 'results' || name === 'compare';
        if (isOpened) await page.locator('#api-request summary').click();
        if (name === 'filtered' && viewport === PHONE) await page.getByRole('button', { name: 'Filters' }).click();
        assert.deepEqual(await accessibility(page), [], name);
        await shot(name);
        if (isOpened) await page.locator('#api-request summary').click();
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

test('the first view weighs under 60 kB in at most 12 files', async () => {
  for (const path of ['/', '/?q=audit', '/software/demo-hedgehog-ehs']) {
    const { page, requests, visit, close } = await open(browser, server);
    await visit(path);
    const sizes = await Promise.all(requests.map(async (request) => {
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      return responseBodySize + responseHeadersSize;
    }));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`${path}: ${requests.length} requests, ${bytes} bytes`);
    assert.ok(requests.length <= MOST_FILES, `${path}: ${requests.length} requests`);
    assert.ok(bytes < MOST_BYTES, `${path}: ${bytes} bytes`);
    await close();
  }
});

for (const viewport of [DESKTOP, PHONE]) {
  test(`nothing moves while a page loads, at ${viewport.width} pixels`, async () => {
    const { page, visit, close } = await open(browser, server, { viewport });
    await page.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifts.push({ value: entry.value, sources: entry.sources.map(({ node }) => node?.className ?? node?.nodeName) });
      }).observe({ type: 'layout-shift', buffered: true });
    });
    // Delays the script, as a slow connection would.
    await page.route('**/page.js', async (route) => {
      await new Promise((done) => { setTimeout(done, 400); });
      await route.continue();
    });
    for (const path of ['/', '/?q=audit', '/categories', '/categories/ehs-management', '/glossary', '/exports', '/software/demo-hedgehog-ehs', '/docs']) {
      await visit(path);
      const shifts = await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifts))); }));
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      assert.ok(sum < 0.01, `${path}: ${sum} ${JSON.stringify(shifts)}`);
    }
    await close();
  });
}

test('every page prints', async () => {
  const { page, visit, close } = await open(browser, server);
  await page.emulateMedia({ media: 'print' });
  for (const path of ['/?q=audit', '/software/demo-hedgehog-ehs']) {
    await visit(path);
    assert.ok(await page.locator('.top').isHidden(), path);
    assert.ok(await page.locator('main h1').isVisible(), path);
  }
  await close();
});
