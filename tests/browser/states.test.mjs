// When there is no answer: no key, a wrong one, too many requests, no server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, open, settled } from './browser.mjs';
import { start } from './server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

test('without a key the page asks for one, and tells when it is wrong', async (t) => {
  const server = await start();
  t.after(() => server.stop());
  const { page, close } = await open(browser, server, { expected: [/401/] });
  await page.goto(server.url);
  await settled(page);
  assert.match(await page.locator('.notice').innerText(), /An API key, please/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'key');
  await page.getByLabel('API key').fill('sd_live_wrong\u2026');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API key invalid' }).waitFor();
  assert.equal(await page.getByLabel('API key').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('API key').fill(`  ${server.key} `);
  await page.getByRole('button', { name: 'Explore' }).click();
  await page.locator('.result').first().waitFor();
  await settled(page);
  await page.getByRole('button', { name: 'Forget my key' }).click();
  await page.getByRole('heading', { name: 'An API key, please' }).waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage).filter((value) => value.startsWith('sd_'))), []);
  await close();
});

test('a link with a key is taken by a page that is open already', async (t) => {
  const server = await start();
  t.after(() => server.stop());
  const { page, close } = await open(browser, server);
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'An API key, please' }).waitFor();
  await page.evaluate((key) => { location.hash = `key=${key}`; }, server.key);
  await page.locator('.result').first().waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await close();
});

test('too many requests: the wait counts down, then the page goes on by itself', async (t) => {
  const server = await start({ rate: '60/min' });
  t.after(() => server.stop());
  const { page, visit, close } = await open(browser, server, { expected: [/429/] });
  await visit('/');
  // Uses the quota up, so that what the page asks next is refused.
  await page.evaluate(async ({ key }) => {
    for (let at = 0; ; at += 1) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, one) => fetch(`/v1/categories?limit=1&offset=${at * 20 + one}`, { headers: { authorization: `Bearer ${key}` } })));
      if (answers.some(({ status }) => status === 429)) return;
    }
  }, { key: server.key });
  await page.clock.install();
  await page.getByLabel(/^EHS management/).check();
  await page.locator('.countdown').waitFor();
  const seconds = async () => Number.parseInt(await page.locator('.countdown').textContent(), 10);
  const from = await seconds();
  assert.ok(from > 30, String(from));
  assert.match(await page.locator('.notice').innerText(), /Too many requests[\s\S]*rate_limited/);
  await page.clock.runFor(10_000);
  assert.ok(from - await seconds() >= 9);
  assert.equal(await page.locator('.result').count(), 0);
  // The page's clock runs ahead of the server's, where the quota isn't renewed yet: a spare key stands for that.
  await page.route('**/v1/search?**', (route) => route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${server.spare}` } }));
  await page.clock.runFor(60_000);
  await page.locator('.result').first().waitFor();
  assert.equal(new URL(page.url()).searchParams.get('category'), 'ehs-management');
  await close();
});

test('a server that is away is said to be, and the page goes on when it is back', async (t) => {
  let server = await start();
  t.after(() => server.stop());
  const { page, visit, close } = await open(browser, server, { expected: [/ERR_CONNECTION_REFUSED|Failed to fetch/, /401/] });
  await visit('/');
  await server.stop();
  await page.locator('#q').fill('audit');
  await page.getByRole('heading', { name: 'The server is away' }).waitFor();
  assert.equal(await page.locator('#q').inputValue(), 'audit');
  assert.match(await page.locator('.notice').innerText(), /Trying again in \d s/);
  server = await start({ listen: new URL(server.url).host });
  await page.getByRole('button', { name: 'Try now' }).click();
  // Another server has another development key, which the page requests as after any wrong one.
  await page.getByRole('heading', { name: 'API key invalid' }).or(page.locator('.result').first()).first().waitFor();
  if (await page.getByLabel('API key').count()) {
    await page.getByLabel('API key').fill(server.key);
    await page.keyboard.press('Enter');
  }
  await page.locator('.result mark').first().waitFor();
  await close();
});
