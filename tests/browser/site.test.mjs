// The site's settings, and its page for an unknown address.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { DESKTOP, launch, open, PHONE } from './browser.mjs';
import { start } from './server.mjs';

const TITLE = 'Tools & <b>trade</b>';
const INTRODUCTION = 'What we use, and <script>alert(1)</script> why.';

let server;
let browser;
before(async () => {
  const options = ['--site-title', TITLE, '--site-introduction', INTRODUCTION];
  [server, browser] = await Promise.all([start({ options }), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); });

test('title and introduction are the operator’s, as text', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  assert.equal(await page.title(), TITLE);
  assert.equal(await page.locator('.brand').innerText(), TITLE);
  assert.equal(await page.locator('.hero .lead').innerText(), INTRODUCTION);
  await page.goto(`${server.url}/docs`);
  assert.equal(await page.title(), `Getting started · ${TITLE}`);
  assert.equal(await page.locator('.brand').innerText(), TITLE);
  await close();
});

test('an unknown address has its own page', async () => {
  const { page, close } = await open(browser, server, { expected: [/404/] });
  const response = await page.goto(`${server.url}/no/such/page`);
  assert.equal(response.status(), 404);
  assert.equal(await page.title(), `Page not found · ${TITLE}`);
  await page.getByRole('link', { name: 'Products' }).click();
  await page.getByLabel('API key').waitFor();
  await close();
});

for (const viewport of [DESKTOP, { width: 900, height: 800 }, { width: 700, height: 800 }, PHONE]) {
  test(`the longest title fits at ${viewport.width} pixels`, async () => {
    const { page, visit, close } = await open(browser, server, { viewport });
    for (const path of ['/', '/docs']) {
      if (path === '/') await visit(path);
      else await page.goto(server.url + path);
      await page.locator('.brand bdi').evaluate((title) => { title.textContent = 'Register of tools '.repeat(5).slice(0, 80); });
      const [wide, room, brand] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth, document.querySelector('.brand').clientWidth]);
      assert.ok(wide <= room, `${path}: ${wide} of ${room} pixels`);
      assert.ok(brand >= 150, `${path}: ${brand} pixels for the title`);
    }
    await close();
  });
}
