// Search, filters, order, pages and the address, as someone uses them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, open, settled } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const names = (page) => page.locator('.result h2').allTextContents();
const total = async (page) => Number((await page.locator('.total').textContent()).replaceAll(',', ''));

const answer = async (path) => (await (await fetch(server.url + path, { headers: { authorization: `Bearer ${server.key}` } })).json()).data;

/** Does something that leads to a new answer of the search, and waits until it is shown. */
async function answered(page, act) {
  const answer = page.waitForResponse((response) => response.url().includes('/v1/search'));
  await act();
  await (await answer).finished();
  await settled(page);
}

test('the link that the server prints opens the directory, and the key leaves the address', async () => {
  const { page, requests, close } = await open(browser, server);
  await page.goto(server.link);
  await settled(page);
  assert.equal(await page.evaluate(() => location.href), `${server.url}/`);
  assert.equal((await names(page)).length, 20);
  assert.ok(requests.every((request) => !request.url().includes(server.key)));
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.reload();
  await settled(page);
  assert.equal((await names(page)).length, 20);
  await close();
});

test('results come as one types, marked, and a typing error is corrected', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  await page.keyboard.press('/');
  await answered(page, () => page.keyboard.type('incdent', { delay: 10 }));
  await page.waitForURL('**/?q=incdent');
  await page.locator('.corrected').waitFor();
  assert.match(await page.locator('.corrected').textContent(), /Searched for incident instead of incdent/);
  assert.ok((await page.locator('.result mark').allTextContents()).some((text) => /incident/i.test(text)));
  assert.match(await page.locator('#status').textContent(), /\d+ products, searched for incident instead of incdent/);
  await answered(page, () => page.getByRole('link', { name: 'Search as typed' }).click());
  assert.equal(new URL(page.url()).searchParams.get('typo'), 'false');
  assert.equal(await page.locator('.corrected').count(), 0);
  await close();
});

test('the last word is open while one types, and closed once the search is sent off', async () => {
  const { page, requests, visit, close } = await open(browser, server);
  await visit('/');
  await page.locator('#q').click();
  const prefix = () => new URL(requests.filter((request) => request.url().includes('/v1/search')).at(-1).url()).searchParams.get('prefix');
  await answered(page, () => page.keyboard.type('audit'));
  assert.equal(prefix(), 'always');
  await answered(page, () => page.keyboard.press('Enter'));
  assert.equal(prefix(), null);
  assert.equal(new URL(page.url()).search, '?q=audit');
  await close();
});

test('a line divides products with all words from those with some, and the page says what is to be replaced', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=near+miss+confined+space');
  const rows = await page.locator('.results > li').evaluateAll((items) => items.map((item) => item.className));
  const all = await page.evaluate(() => document.querySelectorAll('.result').length);
  assert.equal(rows.filter((name) => name === 'some-words').length, 1);
  assert.ok(rows.indexOf('some-words') > 0 && rows.indexOf('some-words') < all, `${rows}`);
  await visit('/?q=near+miss+confined+space&sort=name');
  assert.equal(await page.locator('.some-words').count(), 0, 'another order has no such line');
  await visit('/?q=alternative+to+Enablon');
  assert.match(await page.locator('.understood').textContent(), /Alternatives to Enablon/);
  assert.ok(!(await names(page)).includes('Enablon'));
  await close();
});

test('one word typed is one step back', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  await page.locator('#q').click();
  for (const word of ['aud', 'it']) {
    await answered(page, () => page.keyboard.type(word));
  }
  await page.waitForURL('**/?q=audit');
  await page.goBack();
  await settled(page);
  assert.equal(new URL(page.url()).search, '');
  assert.equal(await page.locator('#q').inputValue(), '');
  await close();
});

test('filters combine, and survive reload and the back button', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const all = await total(page);
  await answered(page, () => page.getByLabel(/^EHS management/).check());
  const one = await total(page);
  assert.ok(one < all);
  await answered(page, () => page.getByLabel(/^Audit management/).check());
  const either = await total(page);
  assert.ok(either > one, 'categories: any of them');
  await answered(page, () => page.getByLabel(/^Vendor sources reviewed/).check());
  const both = await total(page);
  assert.ok(both < either);
  await answered(page, () => page.getByLabel(/^3 stars or more/).check());
  await answered(page, () => page.locator('.facet').filter({ hasText: 'Type' }).getByLabel(/^Software/).check());
  const { searchParams } = new URL(page.url());
  assert.deepEqual(searchParams.getAll('category').sort(), ['audit-management', 'ehs-management']);
  assert.deepEqual([searchParams.get('evidence_status'), searchParams.get('min_rating'), searchParams.get('offering_type')], ['vendor-sources-reviewed', '3', 'software']);
  const shown = await names(page);
  await page.reload();
  await settled(page);
  assert.deepEqual(await names(page), shown);
  assert.ok(await page.getByLabel(/^EHS management/).isChecked());
  assert.ok(await page.getByLabel(/^3 stars or more/).isChecked());
  await answered(page, () => page.goBack());
  await answered(page, () => page.goBack());
  assert.equal(await total(page), both);
  await answered(page, () => page.goForward());
  await answered(page, () => page.getByRole('button', { name: 'Clear' }).click());
  assert.equal(await total(page), all);
  await close();
});

test('attributes filter as categories do, and only those that a hit has are there', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const group = (legend) => page.getByRole('group', { name: legend, exact: true });
  const all = await total(page);
  const standard = group('Standards').locator('.choice').filter({ hasText: 'ISO 9001' });
  const count = Number(await standard.locator('.count').textContent());
  assert.ok(count > 0 && count < all);
  await answered(page, () => standard.getByRole('checkbox').check());
  assert.equal(await total(page), count);
  await answered(page, () => group('Deployment').getByLabel(/^cloud/).check());
  const both = await total(page);
  assert.ok(both > 0 && both < count, 'different filters: all of them');
  const { searchParams } = new URL(page.url());
  assert.deepEqual([searchParams.getAll('standards'), searchParams.getAll('deployment')], [['ISO 9001'], ['cloud']]);
  await page.reload();
  await settled(page);
  assert.equal(await total(page), both);
  assert.ok(await standard.getByRole('checkbox').isChecked());
  await visit('/?standards=iso-9001');
  assert.ok(await standard.getByRole('checkbox').isChecked(), 'written in another way');
  await visit('/?standards=iso-9001&vendor=No+such+vendor');
  assert.ok(await group('Vendor').getByLabel('No such vendor').isChecked(), 'a filter without products can be taken back');
  await answered(page, () => group('Vendor').getByLabel('No such vendor').click());
  assert.equal(await total(page), count);
  await answered(page, () => standard.getByRole('checkbox').uncheck());
  assert.equal(await total(page), all);
  await visit('/?q=avetta');
  assert.deepEqual(await page.locator('.facet legend').allTextContents(), ['Category', 'Rating', 'Evidence', 'Type']);
  await close();
});

test('a long filter is folded, and unfolds with the focus on what comes to light', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const vendors = page.getByRole('group', { name: 'Vendor', exact: true });
  const values = vendors.locator('.label');
  const shown = await values.allTextContents();
  assert.equal(shown.length, 6);
  const more = vendors.getByRole('button', { name: /more: Vendor/ });
  const hidden = Number.parseInt(await more.textContent(), 10);
  await more.press('Enter');
  const unfolded = await values.allTextContents();
  assert.deepEqual(unfolded.slice(0, 6), shown);
  assert.equal(unfolded.length, 6 + hidden);
  assert.equal(await page.evaluate(() => document.activeElement.closest('label').querySelector('.label').textContent), unfolded[6]);
  assert.equal(await more.count(), 0);
  await close();
});

test('a filter that was chosen by key keeps the focus', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  await page.getByLabel(/^EHS management/).focus();
  await answered(page, () => page.keyboard.press('Space'));
  assert.equal(await page.evaluate(() => document.activeElement.id), 'facet-category-ehs-management');
  await close();
});

test('products are sorted and paged, and pages tile the result', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  await answered(page, () => page.getByLabel('Sort').selectOption('-rating'));
  const ratings = (await page.locator('.result .rating b').allTextContents()).map(Number);
  assert.ok(ratings.length > 3);
  assert.deepEqual(ratings, [...ratings].sort((a, b) => b - a));
  await answered(page, () => page.getByLabel('Sort').selectOption({ label: 'Newest evidence' }));
  const dates = await answer('/v1/search?sort=-evidence_checked_on');
  assert.ok(dates[0].evidence_checked_on > dates[5].evidence_checked_on);
  assert.deepEqual(await names(page), dates.map(({ name }) => name));
  await answered(page, () => page.getByLabel('Sort').selectOption('name'));
  const seen = await names(page);
  const pages = Math.ceil((await total(page)) / 20);
  for (let number = 2; number <= pages; number += 1) {
    await answered(page, () => page.getByRole('link', { name: 'Next' }).click());
    assert.equal(new URL(page.url()).searchParams.get('page'), String(number));
    assert.equal(await page.evaluate(() => scrollY), 0);
    seen.push(...await names(page));
  }
  assert.equal(await page.getByRole('link', { name: 'Next' }).count(), 0);
  assert.equal(seen.length, await total(page));
  assert.equal(new Set(seen).size, seen.length);
  await answered(page, () => page.goBack());
  assert.equal(await page.locator('.pager [aria-current]').textContent(), String(pages - 1));
  await close();
});

test('the keyboard is enough: slash, arrows, enter', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q');
  const [first, second] = await names(page);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), first);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), second);
  await page.keyboard.press('End');
  assert.equal(await focused(), (await names(page)).at(-1));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/software/**');
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'h1');
  assert.equal(await focused(), first);
  await page.keyboard.press('Home');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement !== document.body));
  await close();
});

test('rows show a rating and a review state only where there is one', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  assert.doesNotMatch((await page.locator('.result').allInnerTexts()).join('\n'), /Not rated|Pending review/);
  await visit('/?evidence_status=vendor-sources-reviewed');
  assert.ok((await page.locator('.result').allInnerTexts()).every((text) => /Vendor sources reviewed/.test(text)));
  await visit('/?sort=-rating');
  assert.ok(await page.locator('.result .rating').count() > 0);
  await close();
});

test('nothing found is said, with a way on', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=xyzzyplugh&category=ehs-management');
  assert.match(await page.locator('.notice').textContent(), /No product matches “xyzzyplugh” with these filters/);
  await answered(page, () => page.getByRole('link', { name: 'Without filters' }).click());
  assert.equal(new URL(page.url()).search, '?q=xyzzyplugh');
  await visit('/?page=4000');
  assert.match(await page.locator('.notice').textContent(), /Past the last page/);
  await close();
});

test('no hits are said once', async () => {
  const { page, visit, close } = await open(browser, server);
  for (const [path, said] of [['/?q=xyzzyplugh', 'No product matches “xyzzyplugh”'], ['/glossary?q=xyzzyplugh', 'No term matches “xyzzyplugh”']]) {
    await visit(path);
    const lines = (await page.locator('main').innerText()).split('\n').map((line) => line.trim());
    assert.deepEqual(lines.filter((line) => /xyzzyplugh|^0$|\bno\b|none|nothing/i.test(line)), [said], path);
  }
  await page.locator('#q').fill('audit');
  await page.locator('.result').first().waitFor();
  assert.ok(await page.getByLabel(/^4 stars or more/).isVisible(), 'the filters come back with the hits');
  await visit('/categories');
  await page.locator('#narrow').fill('xyzzyplugh');
  assert.equal(await page.locator('main h2').innerText(), 'No category has these words in its name or description');
  assert.equal(await page.locator('.total').innerText(), '');
  await close();
});

test('where it was scrolled to is where the back button returns', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const row = page.locator('.result h2 a').nth(15);
  await row.scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  assert.ok(before > 200);
  await row.click();
  await page.waitForURL('**/software/**');
  await settled(page);
  await answered(page, () => page.goBack());
  await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 5, before);
  await close();
});
