// A public page: it needs no key.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, NAME, open, settled } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([start({ options: ['--public-page', '600/min'] }), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); });

const address = (path) => `${server.url}${path}`;

test('a visitor looks, searches and downloads without a key', async () => {
  const { page, requests, close } = await open(browser, server);
  await page.goto(address('/'));
  await settled(page);
  assert.equal(await page.locator('.result').count(), 20);
  assert.ok(await page.getByRole('button', { name: 'Forget my key' }).isHidden());
  await page.locator('details.call summary').click();
  assert.match(await page.locator('#call-code').textContent(), /SOFTWARE_DIRECTORY_API_KEY/);
  assert.ok(await page.getByLabel('with my key').isHidden());
  for (const path of ['/?q=audit', '/software/demo-hedgehog-ehs', '/categories', '/glossary', '/exports']) {
    await page.goto(address(path));
    await settled(page);
    assert.equal(await page.locator('.notice').count(), 0, path);
  }
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'JSON', exact: true }).first().click();
  assert.match((await download).suggestedFilename(), /\.json$/);
  const calls = requests.filter((request) => request.url().includes('/v1/'));
  assert.ok(calls.length >= 6);
  for (const request of calls) assert.equal((await request.allHeaders()).authorization, undefined);
  await close();
});

test('over plain HTTP, without Fetch Metadata, a visitor looks all the same', async () => {
  const named = { ...server, url: server.url.replace('127.0.0.1', NAME) };
  const { page, requests, close } = await open(browser, named, { expected: [/origin was untrustworthy/] });
  await page.goto(`${named.url}/?q=audit`);
  await page.locator('.result').first().waitFor();
  const headers = await requests.find((request) => request.url().includes('/v1/search')).allHeaders();
  assert.equal(headers['sec-fetch-site'], undefined);
  assert.equal(headers.referer, `${named.url}/`, 'the origin alone');
  await close();
});

test('a page of another origin needs a key', async (t) => {
  const other = await start();
  t.after(() => other.stop());
  const { page, close } = await open(browser, other, { bypassCSP: true, expected: [/request to/, /401/] });
  await page.goto(other.url);
  await settled(page);
  const status = (options) => page.evaluate(async ([url, given]) => (await fetch(url, given)).status, [address('/v1/software'), options]);
  assert.equal(await status({ referrerPolicy: 'unsafe-url' }), 401);
  assert.equal(await status({ headers: { Authorization: `Bearer ${server.key}` } }), 200);
  await close();
});

test('a key that is no longer valid can be left behind', async () => {
  const { page, close } = await open(browser, server, { expected: [/401/] });
  await page.goto(address('/#key=sd_live_gone'));
  await page.getByRole('heading', { name: 'API key invalid' }).waitFor();
  await page.getByRole('button', { name: 'Go on without a key' }).click();
  await page.locator('.result').first().waitFor();
  await close();
});
