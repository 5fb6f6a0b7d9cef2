// A preview: its banner, its report, and a page that updates when the files change.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibility, DESKTOP, launch, open, PHONE, settled, shoot } from './browser.mjs';
import { DATA, start } from './server.mjs';

const DEMO = readFileSync(join(DATA, 'demo.json'), 'utf8');
const CHANGED = DEMO.replace('"ISO 45001", "ISO 14001"', '"ISO 45001"').replace('"pricing": "Fictional: per site', '"pricing": "Invented <b>per</b> site');
const BROKEN = CHANGED.replace('"pending-review"', '"<i>pending</i>"').replace('"vendor-sources-reviewed"', '"reviewed"');

let folder;
let server;
let browser;

/** Atomically replaces the candidate's export. */
function write(text) {
  writeFileSync(join(folder, '.next'), text);
  renameSync(join(folder, '.next'), join(folder, 'demo.json'));
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candidate-'));
  cpSync(DATA, folder, { recursive: true });
  write(CHANGED);
  [server, browser] = await Promise.all([start({ command: ['preview', folder, '--against', DATA] }), launch()]);
});
after(async () => { await browser?.close(); await server?.stop(); if (folder) rmSync(folder, { recursive: true, force: true }); });

const line = (page, text) => page.waitForFunction((part) => document.getElementById('preview-line')?.textContent.includes(part), text);

test('every page has the banner, and says what changes', async () => {
  const { page, visit, close } = await open(browser, server, { expected: [/404/] });
  await visit('/');
  await line(page, '0 products added, 0 removed, 2 changed');
  for (const path of ['/categories', '/docs', '/docs/reference', '/no/such/page']) {
    await page.goto(server.url + path);
    await line(page, '2 changed');
    const banner = page.getByRole('complementary', { name: 'Preview' });
    assert.match(await banner.innerText(), /^PREVIEW of .*candidate-\w+, not published/, path);
    // The banner stays in view while the page scrolls.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    const { y } = await banner.boundingBox();
    assert.equal(y, 0, path);
  }
  await page.getByRole('link', { name: 'What changes' }).click();
  await page.getByText('Changes from').waitFor();
  assert.equal(await page.locator('.changes .changed').count(), 2);
  assert.equal(await page.locator('#preview-report b').count(), 0, 'a record’s text is not markup');
  assert.match(await page.locator('.changes .changed').last().innerText(), /<b>per<\/b>/);
  await page.locator('.changes a').first().click();
  await settled(page);
  assert.match(page.url(), /\/software\/demo-/);
  await close();
});

test('the banner is in the reader’s language, and says which parts are in English', async () => {
  const { page, visit, close } = await open(browser, server, { locale: 'fr-FR', expected: [/401/] });
  await visit('/categories');
  await line(page, '2 changed');
  const banner = page.getByRole('complementary', { name: 'Aperçu' });
  assert.match(await banner.innerText(), /^APERÇU de .*candidate-\w+, non publié/);
  assert.equal(await page.locator('#preview-line').getAttribute('lang'), 'en');
  await page.getByRole('link', { name: 'Ce qui change' }).click();
  await page.getByText('Changes from').waitFor();
  assert.equal(await page.locator('#preview-report').getAttribute('lang'), 'en');
  await page.context().clearCookies();
  await line(page, 'Reconnectez-vous');
  assert.equal(await page.locator('#preview-line').getAttribute('lang'), 'fr');
  await close();
});

test('the page follows the files, and keeps its place', async () => {
  const { page, visit, close } = await open(browser, server, { viewport: PHONE });
  await visit('/?q=demo');
  await line(page, '2 changed');
  await page.evaluate(() => { scrollTo(0, 300); window.isOld = true; });
  write(DEMO.replace('Fictional demo record: electronic permits to work and isolations', 'Another tagline'));
  await page.waitForFunction(() => !window.isOld);
  await line(page, '1 changed');
  await page.getByText('Another tagline').waitFor();
  await settled(page);
  // If the banner's text wraps onto another line after that, the browser adjusts the scroll
  // position so that the content stays in view.
  await page.waitForFunction(() => Math.abs(scrollY - 300) < 50);
  assert.match(page.url(), /\?q=demo$/);
  await page.evaluate(() => { window.isOld = true; });
  write(BROKEN);
  await page.waitForFunction(() => !window.isOld);
  await line(page, 'still showing the last valid state');
  await page.getByText('Another tagline').waitFor();
  write(CHANGED);
  await line(page, '2 changed');
  await close();
});

test('a candidate that was never valid shows its errors until it is', async () => {
  const other = mkdtempSync(join(tmpdir(), 'candidate-'));
  writeFileSync(join(other, 'demo.json'), BROKEN);
  const broken = await start({ command: ['preview', other, '--against', DATA], isReady: false });
  const { page, close } = await open(browser, broken, { expected: [/503/, /401/] });
  try {
    await page.goto(`${broken.url}/sign-in?next=/categories`);
    await page.getByLabel('API key').fill(broken.key);
    await page.keyboard.press('Enter');
    await page.getByText('there has been no valid state yet', { exact: false }).first().waitFor();
    await page.locator('.findings').waitFor();
    assert.match(await page.locator('.findings').innerText(), /unknown_value[^]*<i>pending<\/i>/);
    assert.equal(await page.locator('#preview-report i').count(), 0);
    renameSync(join(other, 'demo.json'), join(other, 'demo.txt'));
    writeFileSync(join(other, 'demo.json'), CHANGED);
    await page.waitForFunction(() => document.querySelector('main h1')?.textContent.includes('Categories'));
  } finally {
    await close();
    await broken.stop();
    rmSync(other, { recursive: true, force: true });
  }
});

test('without a session the report asks for a key', async () => {
  const { page, close } = await open(browser, server, { expected: [/401/, /403/] });
  await page.goto(`${server.url}/preview`);
  await page.getByLabel('API key').fill('sd_dev_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.wrong').waitFor();
  await page.getByLabel('API key').fill(server.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Changes from').waitFor();
  await close();
});

for (const viewport of [DESKTOP, PHONE]) {
  for (const scheme of ['light', 'dark']) {
    test(`axe finds nothing in a preview at ${viewport.width} pixels, ${scheme}`, async () => {
      const { page, visit, close } = await open(browser, server, { viewport, scheme, bypassCSP: true, reducedMotion: 'reduce' });
      const check = async (name) => {
        assert.deepEqual(await accessibility(page), [], name);
        const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(wide <= room, `${name}: ${wide} of ${room} pixels`);
        await shoot(page, `preview-${name}-${viewport.width}-${scheme}`);
      };
      write(CHANGED);
      await visit('/');
      await line(page, '2 changed');
      await check('page');
      await page.goto(`${server.url}/preview`);
      await page.getByText('Changes from').waitFor();
      await check('report');
      write(BROKEN);
      await line(page, 'still showing the last valid state');
      await page.locator('.findings').waitFor();
      await check('broken');
      write(CHANGED);
      await line(page, '2 changed');
      await close();
    });
  }
}
