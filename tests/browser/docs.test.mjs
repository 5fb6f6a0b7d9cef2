// The documentation: every page, the viewer with a try-it that works, and where problems point to.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { launch, open } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const PAGES = ['/docs', '/docs/reference', '/docs/export-format', '/docs/errors', '/docs/versioning'];

test('every link of the documentation leads somewhere', async () => {
  const { page, close } = await open(browser, server);
  const links = new Set(['/llms.txt']);
  for (const path of PAGES) {
    await page.goto(server.url + path);
    for (const link of await page.locator('a[href]:not(#viewer a)').evaluateAll((all) => all.map(({ href }) => href))) links.add(link);
  }
  const prose = await (await fetch(`${server.url}/llms.txt`)).text();
  for (const [, path] of prose.matchAll(/\]\((\/[^)]*)\)/g)) links.add(path);
  for (const link of links) {
    const url = new URL(link, server.url);
    assert.equal(url.origin, server.url, link);
    const path = url.pathname.replace('%7Bid%7D', 'demo-hedgehog-ehs').replace('{id}', 'demo-hedgehog-ehs');
    const { status } = await fetch(server.url + path + url.search, { headers: { authorization: `Bearer ${server.key}` } });
    assert.equal(status, 200, link);
  }
  await close();
});

test('the getting started fits on one screen, and its curl works', async () => {
  const { page, close } = await open(browser, server, { viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.url}/docs`);
  const bottom = await page.locator('main > :last-child').evaluate((node) => node.getBoundingClientRect().bottom);
  assert.ok(bottom <= 900, `${bottom} px`);
  const curl = (await page.locator('pre code').allTextContents()).find((code) => code.startsWith('curl'));
  assert.ok(curl.includes(server.url));
  const env = { ...process.env, API_KEY: server.key };
  const { data } = JSON.parse(execFileSync('bash', ['-c', curl.replace('curl', 'curl -sS --fail')], { env, encoding: 'utf8' }));
  assert.equal(data.length, 3);
  await close();
});

test('the reference shows every operation, and tries one with the key of the tab', async () => {
  const { page, close } = await open(browser, server);
  await page.goto(`${server.url}/docs/reference#key=${server.key}`);
  await page.locator('#viewer[data-ready]').waitFor();
  const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
  await page.locator('.opblock').first().waitFor();
  assert.equal(await page.locator('.opblock').count(), Object.keys(paths).length);
  assert.equal(await page.locator('.errors-wrapper').count(), 0);
  const block = page.locator('.opblock', { has: page.locator('[data-path="/v1/search"]') });
  await block.locator('.opblock-summary-control').first().click();
  await block.locator('tr[data-param-name="q"] input').fill('lockout');
  const answering = page.waitForResponse((response) => response.url().includes('/v1/search'));
  await block.getByRole('button', { name: 'Execute' }).click();
  const answer = await answering;
  assert.equal(answer.status(), 200);
  assert.ok(answer.url().startsWith(`${server.url}/v1/search?`));
  await block.locator('.live-responses-table').waitFor();
  assert.match(await block.locator('.live-responses-table').innerText(), /200[\s\S]*"pagination"/);
  await close();
});

test('the reference fits a desktop with every operation open', async () => {
  const { page, close } = await open(browser, server);
  await page.goto(`${server.url}/docs/reference`);
  await page.locator('.opblock').first().waitFor();
  for (const control of await page.locator('.opblock-summary-control').all()) await control.click();
  await page.locator('.opblock.is-open .responses-table').last().waitFor();
  const widest = await page.evaluate(() => Math.max(document.documentElement.scrollWidth,
    ...[...document.querySelectorAll('#viewer table')].map((table) => table.getBoundingClientRect().right)));
  assert.ok(widest <= 1280, `${widest} px`);
  await close();
});

test('a problem’s type leads to the code, its cause and its cure', async () => {
  const { page, close } = await open(browser, server);
  for (const path of ['/v1/software', '/nowhere']) {
    const problem = await (await fetch(server.url + path)).json();
    await page.goto(new URL(problem.type, server.url).href);
    const section = page.locator('section:target');
    assert.match(await section.innerText(), new RegExp(`${problem.code}[\\s\\S]*${problem.status}[\\s\\S]*Cure:`));
    assert.ok(await section.isVisible());
  }
  await close();
});

test('page and documentation forbid all that they do not need', async () => {
  for (const path of ['/', '/software/x', ...PAGES]) {
    const { headers } = await fetch(server.url + path);
    const policy = headers.get('content-security-policy');
    for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), `${path}: ${part}`);
    }
    assert.equal(policy.includes('unsafe'), path === '/docs/reference', path);
    assert.deepEqual([headers.get('x-content-type-options'), headers.get('referrer-policy')], ['nosniff', 'no-referrer']);
  }
});
