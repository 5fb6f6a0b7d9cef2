// A published copy: files behind a plain web server, with and without scripts, and with and without Pagefind.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibility, DESKTOP, launch, open, PHONE } from './browser.mjs';
import { DATA, HOSTILE, run } from './server.mjs';

const BASE = '/directory';
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };
/** Chromium reports each file that doesn't exist. */
const MISSING = [/404/];

const folder = mkdtempSync(join(tmpdir(), 'software-directory-site-'));
const site = join(folder, 'site');
let server;
let browser;

/** Serves the folder below the base path the way static hosts do, with no headers but the type. */
function serve() {
  const listener = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://host').pathname);
    let file = join(site, path.slice(BASE.length));
    if (path.endsWith('/')) file = join(file, 'index.html');
    const found = path.startsWith(`${BASE}/`) && existsSync(file) && statSync(file).isFile();
    if (!found) file = join(site, '404.html');
    response.writeHead(found ? 200 : 404, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
  return new Promise((done) => listener.listen(0, '127.0.0.1', () => done(listener)));
}

const publish = (data) => run('publish', site, '--data', data, '--index', 'none', '--base-path', BASE, '--language', 'de');

before(async () => {
  await publish(DATA);
  const [listener, launched] = await Promise.all([serve(), launch()]);
  browser = launched;
  server = { url: `http://127.0.0.1:${listener.address().port}`, close: () => listener.close() };
});
after(async () => { await browser?.close(); server?.close(); rmSync(folder, { recursive: true, force: true }); });

test('a reader can browse without scripts, and is told that the copy cannot be searched', async () => {
  const { page, close } = await open(browser, server, { javaScriptEnabled: false, expected: MISSING });
  await page.goto(`${server.url}${BASE}/`);
  await page.getByText('This copy of the directory can’t be searched.').waitFor();
  assert.equal(await page.getByRole('searchbox').count(), 0);
  await page.getByRole('link', { name: 'Products', exact: true }).click();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.waitForURL(`**${BASE}/software/page-2/`);
  await page.locator('.result h3 a').first().click();
  await page.getByRole('link', { name: 'Deutsch' }).click();
  await page.waitForURL(`**${BASE}/de/software/*/`);
  await page.getByText('Diese Kopie des Verzeichnisses kann nicht durchsucht werden.').waitFor();
  assert.equal(await page.locator('form, select').filter({ visible: true }).count(), 1, 'only the form that says so');
  const missing = await page.goto(`${server.url}${BASE}/nowhere/at/all`);
  assert.equal(missing.status(), 404);
  await page.getByRole('link', { name: 'Categories' }).click();
  assert.equal(await page.locator('.card').count() > 10, true);
  await close();
});

test('without Pagefind, scripts change nothing about that', async () => {
  const { page, close } = await open(browser, server, { expected: MISSING });
  for (const path of ['/', '/software/', '/software/demo-permit-penguin/', '/de/glossary/', '/docs/']) {
    await page.goto(`${server.url}${BASE}${path}`, { waitUntil: 'networkidle' });
    assert.equal(await page.locator('#find p').isVisible(), true, path);
    assert.equal(await page.locator('#q').isVisible(), false, path);
  }
  await page.getByRole('button', { name: /^Theme/ }).click();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
  await close();
});

test('hostile names and ids stay text in a published copy', async () => {
  await publish(HOSTILE);
  const { page, close } = await open(browser, server, { expected: MISSING });
  const seen = new Set();
  const left = [`${BASE}/`];
  while (left.length > 0) {
    const path = left.pop();
    if (seen.has(path)) continue;
    seen.add(path);
    const response = await page.goto(server.url + path);
    assert.equal(response.status(), 200, path);
    const links = await page.locator('main a[href]').evaluateAll((all) => all.map(({ href }) => new URL(href)).filter(({ origin }) => origin === location.origin).map(({ pathname }) => pathname));
    left.push(...links.filter((link) => link.endsWith('/')));
  }
  assert.ok(seen.size > 10, `${seen.size} pages`);
  await close();
  await publish(DATA);
});

test('with Pagefind, the form finds products, categories and terms in the page’s language', async () => {
  execFileSync(join(import.meta.dirname, 'node_modules/.bin/pagefind'), ['--site', site, '--silent'], { stdio: 'pipe' });
  for (const [path, viewport] of [['/', DESKTOP], ['/software/demo-permit-penguin/', PHONE], ['/de/software/', DESKTOP]]) {
    const { page, close } = await open(browser, server, { viewport });
    await page.goto(`${server.url}${BASE}${path}`);
    const input = page.getByRole('combobox');
    await input.waitFor();
    assert.equal(await page.locator('#find p').isVisible(), false);
    await input.fill('Permit Penguin');
    const option = page.getByRole('option', { name: 'Permit Penguin Demo' });
    await option.waitFor();
    await input.press('Enter');
    await option.waitFor();
    await input.press('ArrowDown');
    await input.press('Enter');
    const language = path.startsWith('/de/') ? '/de' : '';
    await page.waitForURL(`**${BASE}${language}/software/demo-permit-penguin/`);
    await input.fill('zzqxjv');
    await page.getByRole('option', { name: /zzqxjv/ }).waitFor();
    await input.press('ArrowDown');
    await input.press('Escape');
    assert.equal(await page.getByRole('listbox').isVisible(), false);
    await close();
  }
});

test('a published copy is accessible', async () => {
  for (const path of ['/', '/software/', '/software/demo-permit-penguin/', '/glossary/', '/docs/', '/404.html']) {
    const { page, close } = await open(browser, server, { bypassCSP: true, expected: MISSING });
    await page.goto(`${server.url}${BASE}${path}`, { waitUntil: 'networkidle' });
    assert.deepEqual(await accessibility(page), [], path);
    await close();
  }
});

test('publishing again replaces the copy and its search index', async () => {
  assert.ok(existsSync(join(site, 'pagefind')));
  await publish(DATA);
  assert.ok(!existsSync(join(site, 'pagefind')) && existsSync(join(site, 'index.html')));
});
