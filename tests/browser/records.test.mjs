// A product, the categories, the glossary and the exports: everything in the records is shown.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { launch, open, settled } from './browser.mjs';
import { DATA, start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const DEMO = JSON.parse(readFileSync(`${DATA}/demo.json`, 'utf8'));

test('a product shows everything its record says', async () => {
  const { page, visit, close } = await open(browser, server);
  const record = DEMO.software.find(({ id }) => id === 'demo-hedgehog-ehs');
  await visit(`/software/${record.id}`);
  const text = await page.locator('main').innerText();
  const said = [record.name, record.tagline, record.vendor, record.pricing, ...record.tags, ...record.features, ...record.standards,
    ...record.aliases, ...record.deployment, ...record.languages, ...record.categories, ...record.sources.map(([label]) => label), DEMO.name,
    'founded_year', '2011', 'price_from', record.support.email, 'weekdays', 'CC0 1.0', 'as the record states it', '4.2', '57'];
  for (const part of said) assert.ok(text.includes(part), `${part} is missing`);
  assert.ok(text.includes('The directory asserts neither the truth nor the freshness of these claims.'));
  for (const [label, url] of record.sources) assert.equal(await page.getByRole('link', { name: label }).getAttribute('href'), url);
  assert.equal(await page.locator('.product-facts').getByRole('link', { name: 'CC0 1.0' }).getAttribute('href'), DEMO.license);
  assert.equal(await page.title(), `${record.name} · Software Directory`);
  await close();
});

test('old evidence is called old, and recent evidence is not', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-molecule-mole');
  assert.match(await page.locator('.evidence-box').innerText(), /9 Mar 2021.*ago\. That is old/s);
  await visit('/?q=molecule+mole');
  assert.match(await page.locator('.result').first().locator('.evidence').textContent(), /ago, old/);
  await page.clock.setFixedTime('2021-03-20T12:00:00Z');
  await visit('/software/demo-molecule-mole');
  assert.match(await page.locator('.evidence-box').innerText(), /9 Mar 2021, 11 days ago\.$/m);
  assert.doesNotMatch(await page.locator('.evidence-box').innerText(), /old/);
  await visit('/software/demo-lonely-lighthouse');
  assert.match(await page.locator('.evidence-box').innerText(), /Nobody has reviewed the evidence/);
  await close();
});

test('reviews are drawn as they are distributed', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-permit-penguin');
  const reviews = DEMO.reviews.filter(({ software_id: id }) => id === 'demo-permit-penguin');
  const widths = await page.locator('.bar-part').evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width / part.parentElement.getBoundingClientRect().width));
  const counts = [5, 4, 3, 2, 1].map((star) => reviews.filter(({ rating }) => rating === star).length);
  assert.deepEqual(widths.map((width) => Math.round(width * reviews.length)), counts);
  assert.deepEqual((await page.locator('.bar-count').allTextContents()).map(Number), counts);
  const text = await page.locator('main').innerText();
  for (const { title, body, author } of reviews.slice(0, 20)) {
    for (const part of [title, body, author]) assert.ok(!part || text.includes(part), `${part} is missing`);
  }
  assert.ok(text.includes('computed from the reviews below'));
  await close();
});

test('reviews can be put in another order, which the call names', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-permit-penguin');
  const stars = () => page.locator('.review .stars').evaluateAll((all) => all.map((one) => Number.parseInt(one.getAttribute('aria-label'), 10)));
  const given = await stars();
  const order = page.getByLabel('Sort reviews');
  for (const [label, sort, sorted] of [['Best first', '-rating', [...given].sort((a, b) => b - a)], ['Worst first', 'rating', [...given].sort((a, b) => a - b)], ['Oldest first', 'created_at', [...given].reverse()]]) {
    const answer = page.waitForResponse((response) => response.url().endsWith(`/v1/reviews/demo-permit-penguin?sort=${sort}`));
    await order.selectOption({ label });
    await (await answer).finished();
    await page.locator('#status').filter({ hasText: label }).waitFor({ state: 'attached' });
    assert.deepEqual(await stars(), sorted, label);
    assert.match(await page.locator('details.call code').textContent(), new RegExp(`/v1/reviews/demo-permit-penguin\\?sort=${sort}'`));
  }
  await close();
});

test('the reviews of another order come page after page, and few have no order', async () => {
  const { page, visit, close } = await open(browser, server);
  let total = 30;
  const review = (at) => ({ id: `r${at}`, rating: 1 + (at % 5), title: `Review ${at}`, body: null, author: null, created_at: null, verified: false });
  await page.route('**/v1/reviews/**', (route) => {
    const { searchParams } = new URL(route.request().url());
    const [sort, offset] = [searchParams.get('sort'), Number(searchParams.get('offset') ?? 0)];
    const all = Array.from({ length: total }, (_, at) => review(sort === 'created_at' ? total - 1 - at : at));
    route.fulfill({ json: { data: all.slice(offset, offset + 20), pagination: { limit: 20, offset, total }, summary: { average: 3, count: total, distribution: { 1: 6, 2: 6, 3: 6, 4: 6, 5: 6 } } } });
  });
  await visit('/software/demo-permit-penguin');
  const titles = page.locator('.review b');
  await page.getByRole('button', { name: 'More reviews' }).click();
  await titles.nth(29).waitFor();
  await page.getByLabel('Sort reviews').selectOption({ label: 'Oldest first' });
  await page.locator('.review', { hasText: 'Review 29' }).and(page.locator('.review:first-child')).waitFor();
  assert.equal(await titles.count(), 20);
  await page.getByRole('button', { name: 'More reviews' }).click();
  await titles.nth(29).waitFor();
  assert.deepEqual(await titles.allTextContents(), Array.from({ length: 30 }, (_, at) => `Review ${29 - at}`));
  assert.ok(await page.getByRole('button', { name: 'More reviews' }).isHidden());
  total = 3;
  await page.reload();
  await settled(page);
  assert.deepEqual([await titles.count(), await page.getByLabel('Sort reviews').count()], [3, 0]);
  await close();
});

test('similar products come with what they have in common', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-hedgehog-ehs');
  const { data } = await (await fetch(`${server.url}/v1/software/demo-hedgehog-ehs/similar?limit=5`, { headers: { authorization: `Bearer ${server.key}` } })).json();
  const rows = page.locator('.similar .result');
  assert.equal(await rows.count(), 5);
  for (const [at, { name, shared }] of data.entries()) {
    const text = await rows.nth(at).innerText();
    for (const part of [name, ...shared.categories.map((category) => category.name), shared.words.join(', ')]) assert.ok(text.includes(part), `${part} is missing in ${text}`);
  }
  await rows.first().getByRole('heading').getByRole('link').click();
  await page.waitForURL(`**/software/${data[0].id}`);
  await settled(page);
  assert.equal(await page.locator('main h1').textContent(), data[0].name);
  await close();
});

test('without similar products, or an answer, a product says nothing of them', async () => {
  const { page, visit, close } = await open(browser, server, { expected: [/500/] });
  const answers = [{ json: { data: [], pagination: { limit: 5, offset: 0, total: 0 } } }, { status: 500, json: { detail: 'broken' } }];
  for (const answer of answers) {
    await page.route('**/similar?**', (route) => route.fulfill(answer));
    await visit('/software/demo-hedgehog-ehs');
    await page.locator('.evidence-box').waitFor();
    assert.equal(await page.getByText('Similar products').count(), 0);
    assert.equal(await page.locator('.notice').count(), 0);
    await page.unroute('**/similar?**');
    await page.goto('about:blank');
  }
  await close();
});

test('the glossary’s terms are linked in a product’s text, and lead to what they mean', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/demo-hedgehog-ehs');
  const linked = await page.locator('a.term').allTextContents();
  for (const term of ['LTIFR', 'TRIR', 'near-miss', 'Near misses']) assert.ok(linked.includes(term), `${term}: ${linked}`);
  await page.locator('a.term', { hasText: 'TRIR' }).first().click();
  await page.waitForURL('**/glossary?q=**');
  await settled(page);
  assert.match(await page.locator('.term-entry').first().innerText(), /TRIR/);
  await close();
});

test('the glossary is searched as one types', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/glossary');
  assert.equal(await page.locator('.term-entry').count(), 20);
  await page.getByLabel('Search the glossary').fill('lockout');
  await page.waitForURL('**/glossary?q=lockout');
  await settled(page);
  assert.match(await page.locator('.term-entry h2').first().innerText(), /lockout/i);
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.activeElement.matches('.term-entry a')));
  await page.getByRole('link', { name: 'Glossary', exact: true }).click();
  await page.waitForURL('**/glossary');
  await settled(page);
  assert.equal(await page.getByLabel('Search the glossary').inputValue(), '');
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL('**/glossary?page=2');
  await close();
});

test('categories are an overview with counts, each the way to its products', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/categories');
  const cards = page.locator('.card');
  const { pagination } = await (await fetch(`${server.url}/v1/categories`, { headers: { authorization: `Bearer ${server.key}` } })).json();
  assert.equal(await cards.count(), pagination.total);
  await page.getByLabel('Narrow down the categories').fill('ehs man');
  const card = cards.filter({ hasText: 'EHS management' });
  const count = Number(await card.locator('.count').evaluate((node) => node.firstChild.textContent));
  await card.getByRole('link').click();
  await page.waitForURL('**/?category=ehs-management');
  await settled(page);
  assert.equal(Number(await page.locator('.total').textContent()), count);
  await close();
});

test('well-known licences have names, and others that of their host', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/exports');
  const script = await page.locator('link[href$="/part/licence.js"]').getAttribute('href');
  for (const [address, name] of [
    ['https://creativecommons.org/licenses/by/4.0/', 'CC BY 4.0'],
    ['http://creativecommons.org/licenses/by-nc-sa/3.0/de/legalcode', 'CC BY-NC-SA 3.0 DE'],
    ['https://creativecommons.org/licenses/by-sa/4.0/deed.fr', 'CC BY-SA 4.0'],
    ['https://creativecommons.org/publicdomain/zero/1.0/legalcode', 'CC0 1.0'],
    ['http://www.opendatacommons.org/licenses/odbl/1.0/', 'ODbL 1.0'],
    ['https://opensource.org/license/MIT', 'MIT'],
    ['https://www.apache.org/licenses/LICENSE-2.0.txt', 'Apache-2.0'],
    ['https://www.etalab.gouv.fr/licence-ouverte-open-licence/', 'Etalab Open Licence'],
    ['https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/', 'OGL 3.0'],
    ['https://spdx.org/licenses/BSD-3-Clause.html', 'BSD-3-Clause'],
    ['https://creativecommons.org/licenses/', 'creativecommons.org'],
    ['https://data.example.org:8443/terms?v=2', 'data.example.org:8443'],
    ['http://constructor', 'constructor'],
    ['urn:isbn:0451450523', 'urn:isbn:0451450523'],
  ]) {
    assert.equal(await page.evaluate(async ([module, of]) => (await import(module)).nameOf(of), [script, address]), name, address);
  }
  await close();
});

test('exports are listed with their licences, and downloaded with the key', async () => {
  const { page, visit, close } = await open(browser, server, { acceptDownloads: true });
  await visit('/exports');
  const entry = page.locator('.export', { hasText: DEMO.name });
  assert.equal(await entry.getByRole('link', { name: 'CC0 1.0', exact: true }).getAttribute('href'), DEMO.license);
  const downloading = page.waitForEvent('download');
  await entry.getByRole('button', { name: 'JSON', exact: true }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), 'demo.json');
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), 'utf8')), DEMO);
  await close();
});

test('a product that does not exist is said to', async () => {
  const { page, visit, close } = await open(browser, server, { expected: [/404/] });
  await visit('/software/no-such-thing');
  assert.match(await page.locator('.notice').innerText(), /Product not found[\s\S]*no-such-thing[\s\S]*software_not_found/);
  await close();
});
