// The pages as people use them: everything works with and without scripts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { launch, open, PHONE, settled } from './browser.mjs';
import { DATA, start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const DEMO = JSON.parse(readFileSync(`${DATA}/demo.json`, 'utf8'));
const names = (page) => page.locator('.results .result h3').allTextContents();
const total = async (page) => Number((await page.locator('h1 .total').textContent()).replaceAll(',', ''));
const answer = async (path) => (await fetch(server.url + path, { headers: { authorization: `Bearer ${server.key}` } })).json();

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';

  test(`search, filter, sort and page, ${how}`, async () => {
    const { page, visit, close } = await open(browser, server, { javaScriptEnabled });
    const apply = async (act) => {
      await act();
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Apply' }).click();
      await settled(page);
    };
    await visit('/');
    await page.getByRole('searchbox').or(page.getByRole('combobox', { name: 'Search products' })).first().fill('audit');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?q=audit');
    const all = await total(page);
    const { data, pagination } = await answer('/v1/search?q=audit');
    assert.equal(all, pagination.total);
    assert.deepEqual(await names(page), data.map(({ name }) => name));
    await apply(() => page.getByRole('checkbox', { name: /^Audit management/ }).check());
    await page.waitForURL((url) => url.searchParams.getAll('category').includes('audit-management'));
    const one = await total(page);
    assert.ok(one < all, `${one} of ${all}`);
    assert.match(await page.locator('.active-filters a').first().innerText(), /^Audit management ×/);
    await page.reload();
    assert.equal(await total(page), one);
    await page.locator('.active-filters a').first().click();
    await page.waitForURL((url) => !url.searchParams.has('category'));
    await settled(page);
    assert.equal(await total(page), all);
    await apply(() => page.getByLabel('Sort by').selectOption('name'));
    await page.waitForURL((url) => url.searchParams.get('sort') === 'name');
    const seen = await names(page);
    while (await page.getByRole('link', { name: 'Next' }).count()) {
      const before = page.url();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.waitForURL((url) => url.href !== before);
      await settled(page);
      seen.push(...await names(page));
    }
    assert.equal(seen.length, all);
    assert.equal(new Set(seen).size, all, 'pages tile the result');
    await close();
  });

  test(`products are compared, ${how}`, async () => {
    const { page, visit, close } = await open(browser, server, { javaScriptEnabled });
    await visit('/?q=hedgehog+penguin');
    assert.ok(await page.locator('.compare-bar').isHidden());
    const boxes = page.locator('.select input');
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByRole('button', { name: 'Compare selected products' }).click();
    await page.waitForURL('**/compare?id=*&id=*');
    assert.equal(await page.locator('.comparison thead th').count(), 2);
    await page.getByRole('link', { name: /^Remove/ }).first().click();
    await page.waitForURL((url) => url.searchParams.getAll('id').length === 1);
    await close();
  });

  test(`choices survive another search, and the comparison keeps its header in view, ${how}`, async () => {
    const { page, visit, close } = await open(browser, server, { javaScriptEnabled, viewport: PHONE });
    await visit('/?q=maintenance');
    await page.locator('.select input').nth(0).check();
    const search = page.locator('#q');
    await search.fill('hedgehog');
    await search.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === 'hedgehog');
    await settled(page);
    await page.locator('.select input').nth(0).check();
    await page.getByRole('button', { name: 'Compare selected products' }).click();
    await page.waitForURL('**/compare?id=*&id=*');
    const names = await page.locator('.comparison thead th a:not(.remove)').allTextContents();
    assert.ok(names.includes('Hedgehog EHS Demo') && names.length === 2, names.join());
    const head = page.locator('.comparison thead th').first();
    await page.locator('.compared').evaluate((table) => table.scrollTo(0, 500));
    assert.ok(await head.isVisible());
    const rows = await page.locator('.comparison tbody tr').count();
    await page.getByRole('link', { name: 'Show only differences' }).click();
    await page.waitForURL('**/compare?id=*&id=*&only=differences');
    assert.ok(await page.locator('.comparison tbody tr').count() < rows);
    await close();
  });

  test(`a phone shows the first result immediately, and the filters in a sheet, ${how}`, async () => {
    const { page, visit, close } = await open(browser, server, { javaScriptEnabled, viewport: PHONE });
    await visit('/?q=audit');
    const { y, height } = await page.locator('.result').first().boundingBox();
    assert.ok(y + height <= PHONE.height, `${y} + ${height}`);
    assert.equal(await page.locator('.top').evaluate((top) => getComputedStyle(top).position), 'static');
    assert.ok(await page.locator('#filters').isHidden());
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: /^Audit management/ }).check();
    const show = page.locator('#filters').getByRole('button', { name: /^Show \d+ products?$/ });
    if (javaScriptEnabled) await page.waitForURL((url) => url.searchParams.has('category'));
    await show.click();
    await page.waitForURL((url) => url.searchParams.has('category'));
    await settled(page);
    assert.ok(await page.locator('#filters').isHidden());
    assert.equal(await page.locator('.count-badge').innerText(), '1');
    await close();
  });

  test(`the sign-in form opens the requested page, and signing out ends the session, ${how}`, async () => {
    const { page, close } = await open(browser, server, { javaScriptEnabled, expected: [/403/] });
    await page.goto(`${server.url}/software/demo-hedgehog-ehs`);
    await page.getByRole('heading', { name: 'Enter your API key' }).waitFor();
    await page.getByLabel('API key').fill('sd_live_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(`  ${server.key} `);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/software/demo-hedgehog-ehs');
    const other = await page.context().newPage();
    await other.goto(`${server.url}/glossary`);
    assert.equal(await other.locator('h1').innerText().then((text) => text.split(' ')[0]), 'Glossary', 'new tabs just work');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await page.goto(`${server.url}/`);
    await page.getByLabel('API key').waitFor();
    await close();
  });
}

test('the startup link signs the visitor in and leaves no code in the address', async () => {
  const other = await start({ rate: null });
  const { page, close } = await open(browser, other);
  await page.goto(other.link);
  assert.equal(page.url(), `${other.url}/`);
  assert.match(await page.locator('.counts').innerText(), /\d+ products/);
  await close();
  await other.stop();
});

test('a product shows everything its record says', async () => {
  const { page, visit, close } = await open(browser, server, { javaScriptEnabled: false });
  const record = DEMO.software.find(({ id }) => id === 'demo-hedgehog-ehs');
  await visit(`/software/${record.id}`);
  const text = await page.locator('main').innerText();
  const said = [record.name, record.tagline, record.vendor, record.pricing, ...record.tags, ...record.features, ...record.standards,
    ...record.aliases, ...record.deployment, ...record.languages, ...record.categories, ...record.sources.map(([label]) => label), DEMO.name,
    'founded_year', '2011', 'price_from', record.support.email, 'weekdays', 'CC0 1.0', 'as stated in the record', '4.2', '57'];
  // A definition that pops up over a term isn't part of the text.
  const shown = await page.locator('main').evaluate((main) => {
    const copy = main.cloneNode(true);
    copy.querySelectorAll('.about-term').forEach((node) => node.remove());
    return copy.textContent;
  });
  for (const part of said) assert.ok(text.includes(part) || shown.includes(part), `${part} is missing`);
  for (const [label, url] of record.sources) assert.equal(await page.getByRole('link', { name: label }).first().getAttribute('href'), url);
  assert.equal(await page.title(), `${record.name} · Software Directory`);
  await close();
});

test('a term shows its definition on hover and on focus', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-permit-penguin');
  const term = page.locator('.term').first();
  const about = term.locator('.about-term');
  assert.ok(await about.isHidden());
  await term.hover();
  assert.ok(await about.isVisible());
  await page.mouse.move(0, 0);
  await page.keyboard.press('Tab');
  await term.locator('a').focus();
  assert.ok(await about.isVisible());
  await page.keyboard.press('Escape');
  assert.ok(await about.isHidden(), 'dismissed');
  await page.keyboard.press('Tab');
  await term.locator('a').focus();
  assert.ok(await about.isVisible(), 'back again');
  await close();
});

test('old evidence is marked as old', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-molecule-mole');
  assert.match(await page.locator('.evidence-box').innerText(), /9 March 2021\. That was over a year ago/);
  await visit('/?q=molecule+mole');
  assert.match(await page.locator('.result').first().locator('.checked').innerText(), /over a year ago/);
  await close();
});

test('reviews are counted by stars, and sorted as chosen', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-permit-penguin');
  const reviews = DEMO.reviews.filter(({ software_id: id }) => id === 'demo-permit-penguin');
  const counts = [5, 4, 3, 2, 1].map((star) => reviews.filter(({ rating }) => rating === star).length);
  assert.deepEqual(await page.locator('.distribution meter').evaluateAll((all) => all.map(({ value }) => value)), counts);
  await page.getByRole('link', { name: 'Lowest rated' }).click();
  await page.waitForURL('**/software/demo-permit-penguin?sort=rating#reviews');
  const stars = await page.locator('.review .stars').evaluateAll((all) => all.map((one) => Number.parseInt(one.getAttribute('aria-label'), 10)));
  assert.deepEqual(stars, [...stars].sort((a, b) => a - b));
  await close();
});

test('the pages are in the browser’s language', async () => {
  for (const [locale, lang, heading] of [['de-DE', 'de', /^Kategorien/], ['fr-FR', 'fr', /^Catégories/]]) {
    const { page, visit, close } = await open(browser, server, { locale });
    await visit('/categories');
    assert.equal(await page.locator('html').getAttribute('lang'), lang);
    assert.match(await page.locator('h1').innerText(), heading);
    await close();
  }
});
