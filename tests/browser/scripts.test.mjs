// What scripts add: results and suggestions while typing, keyboard shortcuts, copying, and
// remembered choices.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, open, settled } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const field = (page) => page.getByRole('combobox', { name: 'Search products' });
const options = (page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
const names = (page) => page.locator('.results .result h3').allTextContents();

test('results update in place while typing, and a typo is corrected', async () => {
  const { page, requests, visit, close } = await open(browser, server);
  await visit('/?q=');
  await page.evaluate(() => { window.isSame = true; });
  await page.keyboard.press('/');
  await page.keyboard.type('incdent', { delay: 10 });
  await page.locator('.corrected').waitFor();
  assert.match(await page.locator('.corrected').innerText(), /Showing results for incident/);
  await page.waitForURL('**/?q=incdent');
  assert.ok(requests.some((request) => request.url().includes('/results?q=incdent&prefix=always')), 'the last word is a prefix');
  assert.equal(await page.title(), 'incdent · Results · Software Directory');
  assert.match(await page.locator('#status').textContent(), /\d+ products/);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Search exactly as typed' }).click();
  await page.waitForURL((url) => url.searchParams.get('typo') === 'false');
  assert.ok(await page.evaluate(() => window.isSame), 'the document is not reloaded');
  await page.goBack();
  await page.locator('.corrected').waitFor();
  assert.equal(await field(page).inputValue(), 'incdent');
  await close();
});

test('a filter chosen with the keyboard keeps the focus, and back removes it', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=');
  const before = await names(page);
  const box = page.getByRole('checkbox', { name: /^EHS management/ });
  await box.focus();
  await page.keyboard.press('Space');
  await page.waitForURL('**/?category=ehs-management');
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'category-ehs-management');
  assert.ok(await box.isChecked());
  // If the focused link is gone, the focus moves to the heading.
  await page.locator('.active-filters a').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/?q=');
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  await page.goBack();
  await page.waitForURL('**/?category=ehs-management');
  await settled(page);
  await page.goBack();
  await page.waitForURL('**/?q=');
  await page.waitForFunction((first) => document.querySelector('.result h3')?.textContent === first, before[0]);
  assert.deepEqual(await names(page), before);
  await close();
});

test('products, categories and terms are suggested, and arrows and Enter open one', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  await field(page).click();
  await page.keyboard.type('audit');
  await options(page).first().waitFor();
  assert.deepEqual(await page.locator('#suggestions .group-label').allTextContents(), ['Products', 'Categories', 'Terms']);
  assert.equal(await field(page).getAttribute('aria-expanded'), 'true');
  const second = options(page).nth(1);
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.locator('[aria-selected="true"]').count(), 1, 'wraps around to the last');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await field(page).getAttribute('aria-activedescendant'), await second.getAttribute('id'));
  const name = await second.innerText();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/software/*');
  assert.equal(await page.locator('h1').innerText(), name);
  await page.goBack();
  await field(page).fill('perm');
  await options(page).first().waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#suggestions').isHidden());
  await close();
});

test('arrow keys move through the results', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=audit');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const [first, second] = await names(page);
  await page.keyboard.press('/');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), first);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), second);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q');
  await close();
});

test('the API request is hidden at first, the choice is remembered, and it matches the page', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=permit&category=ehs-management');
  assert.ok(await page.locator('#api-request pre').first().isHidden());
  await page.locator('#api-request summary').click();
  await visit('/?q=audit&min_rating=3');
  const [curl, typescript, python] = await page.locator('#api-request pre').allInnerTexts();
  const address = /'([^']+)'$/.exec(curl.trim())[1];
  const { data } = await (await fetch(new URL(new URL(address).pathname + new URL(address).search, server.url), { headers: { authorization: `Bearer ${server.key}` } })).json();
  assert.deepEqual(data.map(({ name }) => name), await names(page));
  assert.match(typescript, /client\.search\.products\(\{ q: "audit", min_rating: 3, highlight: true \}\)/);
  assert.match(python, /client\.search\.products\(q="audit", min_rating=3, highlight=True\)/);
  await close();
});

test('back returns to the scroll position', async () => {
  const { page, visit, close } = await open(browser, server);
  const scrolled = () => page.evaluate(() => scrollY);
  const isAt = (wanted) => page.waitForFunction((place) => Math.abs(scrollY - place) < 5, wanted);
  await visit('/?q=');
  await page.locator('.result h3 a').nth(15).scrollIntoViewIfNeeded();
  const before = await scrolled();
  assert.ok(before > 200, String(before));
  await page.locator('.result h3 a').nth(15).click();
  await page.waitForURL('**/software/**');
  await settled(page);
  await page.goBack();
  await settled(page);
  await isAt(before);
  // The next page loads in place.
  await page.getByRole('link', { name: 'Next' }).scrollIntoViewIfNeeded();
  const atPager = await scrolled();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL('**page=2');
  await settled(page);
  assert.equal(await scrolled(), 0, 'a new page starts at the top');
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has('page'));
  await settled(page);
  await isAt(atPager);
  await close();
});

test('too many requests: the page says how long to wait', async (t) => {
  const limited = await start({ rate: '20/min' });
  t.after(() => limited.stop());
  const { page, visit, close } = await open(browser, limited, { expected: [/429/] });
  await visit('/?q=audit');
  // Uses up the quota, so the page's next request is rejected. Each address is different,
  // because a 304 costs nothing.
  await page.evaluate(async () => { await Promise.all(Array.from({ length: 20 }, (_, at) => fetch(`/results?q=${at}`))); });
  await page.getByRole('checkbox', { name: /^Audit management/ }).click();
  await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  assert.match(await page.locator('.notice').innerText(), /Try again in \d+ seconds?\./);
  assert.match(await page.getByRole('link', { name: 'Try again' }).getAttribute('href'), /^\/\?q=audit&category=audit-management/);
  assert.equal(await field(page).inputValue(), 'audit');
  await close();
});

test('scripts speak the reader’s language', async () => {
  const { page, visit, close } = await open(browser, server, { locale: 'de-DE', expected: [/ERR_FAILED|Failed to fetch/] });
  await visit('/docs/reference');
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  assert.equal(await page.locator('main').getAttribute('lang'), 'en');
  const copy = page.locator('.copy').first();
  assert.deepEqual([await copy.textContent(), await copy.getAttribute('lang')], ['Kopieren', 'de']);
  const operation = page.locator('.operation').first();
  await operation.locator('summary').first().click();
  await operation.locator('form summary').click();
  await page.route('**/v1/**', (route) => route.abort());
  await operation.getByRole('button', { name: 'Send' }).click();
  const status = operation.getByRole('status').filter({ hasText: 'Der Dienst ist nicht erreichbar.' });
  await status.waitFor();
  assert.equal(await status.getAttribute('lang'), 'de');
  await close();
});

test('what was typed and searched for is one step in the history', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=audit');
  const input = page.getByRole('combobox', { name: 'Search products' });
  await input.fill('permit');
  await page.waitForURL('**/?q=permit');
  await settled(page);
  await input.press('Enter');
  await settled(page);
  await page.goBack();
  await page.waitForURL('**/?q=audit');
  await close();
});

test('the reader can choose the theme', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  const button = page.getByRole('button', { name: /Theme/ });
  await button.click();
  assert.equal(await button.innerText(), 'Theme: light');
  await button.click();
  assert.equal(await button.innerText(), 'Theme: dark');
  const dark = await ground();
  assert.notEqual(dark, light);
  await visit('/glossary');
  assert.equal(await ground(), dark);
  await close();
});

test('an expired session leads to the sign-in form', async () => {
  const { page, visit, close } = await open(browser, server, { expected: [/401/] });
  await visit('/?q=');
  await page.context().clearCookies();
  await page.getByRole('checkbox', { name: /^EHS management/ }).click();
  await page.getByLabel('API key').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('next'), '/?category=ehs-management');
  await close();
});
