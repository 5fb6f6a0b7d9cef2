// A public page: it needs no key.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, NAME, open } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => {
  [server, browser] = await Promise.all([start({ options: ['--public-page', '600/min'] }), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); });

test('a visitor can browse, search and download without a key', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { page, requests, close } = await open(browser, server, { javaScriptEnabled });
    for (const path of ['/', '/?q=audit', '/software/demo-hedgehog-ehs', '/categories', '/glossary', '/exports']) {
      const response = await page.goto(server.url + path);
      assert.equal(response.status(), 200, path);
    }
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'JSON', exact: true }).first().click();
    assert.match((await download).suggestedFilename(), /\.json$/);
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0);
    for (const request of requests) assert.equal((await request.allHeaders()).authorization, undefined);
    await close();
  }
});

test('over plain HTTP, without Fetch Metadata, a visitor can still browse', async () => {
  const named = { ...server, url: server.url.replace('127.0.0.1', NAME) };
  const { page, close } = await open(browser, named, { expected: [/origin was untrustworthy/] });
  await page.goto(`${named.url}/?q=`);
  await page.getByRole('checkbox', { name: /^EHS management/ }).check();
  await page.waitForURL('**/?category=ehs-management');
  await page.locator('.result').first().waitFor();
  await close();
});

test('a page from another origin needs a key', async (t) => {
  const other = await start();
  t.after(() => other.stop());
  const { page, close } = await open(browser, other, { bypassCSP: true, expected: [/request to/, /401/] });
  await page.goto(other.url);
  const status = (options) => page.evaluate(async ([url, given]) => (await fetch(url, given)).status, [`${server.url}/v1/software`, options]);
  assert.equal(await status({ referrerPolicy: 'unsafe-url' }), 401);
  assert.equal(await status({ headers: { Authorization: `Bearer ${server.key}` } }), 200);
  await close();
});
