// Suggestions below the search box: with keys, mouse and touch, and what a reader of the screen gets.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { accessibility, DESKTOP, launch, open, PHONE, settled } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const isSuggest = (request) => request.url().includes('/v1/suggest');
const field = (page) => page.getByRole('combobox', { name: 'Search products' });
const list = (page) => page.getByRole('listbox', { name: 'Suggestions' });
const options = (page) => list(page).getByRole('option');

/** Types into the box and waits for results and suggestions, whose answer it returns. */
async function type(page, text) {
  const answers = ['/v1/suggest', '/v1/search'].map((path) => page.waitForResponse((response) => {
    const { pathname, searchParams } = new URL(response.url());
    return pathname === path && searchParams.get('q') === text;
  }));
  await field(page).fill(text);
  const [suggested, searched] = await Promise.all(answers);
  await searched.finished();
  await settled(page);
  await options(page).first().waitFor();
  return (await suggested.json()).data;
}

/** The text of the option that the field says is the active one. */
const active = (page) => page.evaluate(() => {
  const id = document.getElementById('q').getAttribute('aria-activedescendant');
  const selected = [...document.querySelectorAll('[role=option][aria-selected=true]')];
  if (selected.length !== (id ? 1 : 0) || (id && selected[0].id !== id)) throw new Error(`${id} is active, ${selected.length} selected`);
  return id && selected[0].querySelector('bdi').textContent;
});

test('products, categories and terms are suggested, with one request a pause', async () => {
  const { page, requests, visit, close } = await open(browser, server);
  await visit('/');
  assert.equal(await field(page).getAttribute('aria-expanded'), 'false');
  assert.equal(requests.filter(isSuggest).length, 0);
  const { software, categories, glossary } = await type(page, 'audit');
  assert.equal(await field(page).getAttribute('aria-expanded'), 'true');
  for (const [name, items] of [['Products', software.map((one) => one.name)], ['Categories', categories.map((one) => one.name)], ['Terms', glossary.map((one) => one.term)]]) {
    assert.ok(items.length > 0, name);
    assert.deepEqual(await list(page).getByRole('group', { name }).locator('[role=option] > bdi').allTextContents(), items);
  }
  const count = software.length + categories.length + glossary.length;
  assert.match(await page.locator('#suggested').textContent(), new RegExp(`^${count} suggestions`));
  assert.ok(await page.locator('.result mark').count() > 0, 'the results come below, as without suggestions');
  assert.equal(await active(page), null);
  const searches = requests.filter((request) => request.url().includes('/v1/search')).length;
  assert.deepEqual([searches, requests.filter(isSuggest).length], [2, 1]);
  await close();
});

test('arrows choose a suggestion, Enter opens it, and back is the search', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const { software, glossary } = await type(page, 'audit');
  await page.keyboard.press('ArrowDown');
  assert.equal(await active(page), software[0].name);
  await page.keyboard.press('ArrowUp');
  assert.equal(await active(page), null);
  await page.keyboard.press('ArrowUp');
  assert.equal(await active(page), glossary.at(-1).term, 'round to the last');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await active(page), software[1].name);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/software/${software[1].id}`);
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), software[1].name);
  assert.ok(await list(page).isHidden());
  assert.equal(await field(page).inputValue(), '');
  await page.goBack();
  await settled(page);
  assert.equal(await field(page).inputValue(), 'audit');
  assert.ok(await list(page).isHidden());
  await close();
});

test('Escape closes the suggestions, then empties the box; Enter without a choice searches', async () => {
  const { page, requests, visit, close } = await open(browser, server);
  await visit('/');
  await type(page, 'audit');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  assert.ok(await list(page).isHidden());
  assert.deepEqual([await field(page).getAttribute('aria-expanded'), await active(page), await field(page).inputValue()], ['false', null, 'audit']);
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.activeElement.matches('.result a')), 'the arrows are the results’ again');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await page.waitForURL(`${server.url}/`);
  assert.equal(await field(page).inputValue(), '');
  await type(page, 'permit');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('suggestions').hidden);
  await settled(page);
  const last = requests.filter((request) => request.url().includes('/v1/search')).at(-1);
  assert.equal(new URL(last.url()).searchParams.get('prefix'), null);
  assert.equal(new URL(page.url()).search, '?q=permit');
  await close();
});

test('a category becomes the filter, and keeps the others', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=x&min_rating=2&sort=name');
  const { categories } = await type(page, 'audit');
  const answer = page.waitForResponse((response) => response.url().includes('/v1/search') && !response.url().includes('q='));
  await list(page).getByRole('group', { name: 'Categories' }).getByRole('option').first().click();
  await (await answer).finished();
  await settled(page);
  assert.equal(new URL(page.url()).search, `?category=${categories[0].id}&min_rating=2&sort=name`);
  assert.ok(await page.getByRole('checkbox', { name: categories[0].name }).isChecked());
  assert.equal(await field(page).inputValue(), '');
  await close();
});

test('a touch is enough, and a term leads to its entry', async () => {
  const { page, visit, close } = await open(browser, server, { viewport: PHONE, hasTouch: true, isMobile: true });
  await visit('/categories');
  const { glossary } = await type(page, 'audit');
  await list(page).getByRole('group', { name: 'Terms' }).getByRole('option').first().tap();
  await page.waitForURL('**/glossary?q=**');
  await settled(page);
  assert.equal(await page.locator('.term-entry h2 a').first().textContent(), glossary[0].term);
  assert.ok(await list(page).isHidden());
  await visit('/');
  const { software } = await type(page, 'permit');
  await options(page).first().tap();
  await page.waitForURL(`**/software/${software[0].id}`);
  await close();
});

test('a suggestion that is chosen before the typing pauses isn’t undone by it', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const { software } = await type(page, 'audit');
  await page.clock.install();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.type('s');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/software/${software[0].id}`);
  await page.clock.runFor(2000);
  await settled(page);
  assert.equal(new URL(page.url()).pathname, `/software/${software[0].id}`);
  await close();
});

test('a failing call is silent, and none is answered too late', async () => {
  const { page, visit, close } = await open(browser, server, { expected: [/500/] });
  await visit('/');
  await page.route('**/v1/suggest?**', (route) => route.fulfill({ status: 500, json: { detail: 'broken' } }));
  const failed = page.waitForResponse(isSuggest);
  await field(page).fill('aud');
  await (await failed).finished();
  await page.locator('.result mark').first().waitFor();
  assert.ok(await list(page).isHidden());
  assert.equal(await page.locator('.notice').count(), 0);
  await page.unroute('**/v1/suggest?**');
  // Answered only once the test says so.
  let release;
  const released = new Promise((done) => { release = done; });
  await page.route('**/v1/suggest?q=audi&**', async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  const asked = page.waitForRequest((request) => request.url().includes('/v1/suggest?q=audi&'));
  await field(page).fill('audi');
  await asked;
  const aborted = page.waitForEvent('requestfailed', isSuggest);
  await type(page, 'permit');
  assert.ok((await aborted).url().includes('q=audi&'));
  const shown = await options(page).allTextContents();
  release();
  await settled(page);
  assert.deepEqual(await options(page).allTextContents(), shown);
  await page.mouse.click(DESKTOP.width - 60, DESKTOP.height / 2);
  assert.ok(await list(page).isHidden(), 'a click elsewhere closes them');
  await close();
});

for (const viewport of [DESKTOP, PHONE]) {
  for (const scheme of ['light', 'dark']) {
    test(`suggestions fit and axe finds nothing at ${viewport.width} pixels, ${scheme}`, async () => {
      const { page, visit, close } = await open(browser, server, { viewport, scheme, bypassCSP: true, reducedMotion: 'reduce' });
      await visit('/');
      await type(page, 'audit');
      await page.keyboard.press('ArrowUp');
      assert.deepEqual(await accessibility(page), []);
      const box = await list(page).boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width && box.y + box.height <= viewport.height, JSON.stringify(box));
      const option = await list(page).locator('[aria-selected=true]').boundingBox();
      assert.ok(option.y >= box.y && option.y + option.height <= box.y + box.height, 'the active option is scrolled to');
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await close();
    });
  }
}
