// The documentation: every page, the reference with its forms, and the pages that problem documents
// link to.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { DESKTOP, PHONE, launch, open } from './browser.mjs';
import { start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start(), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const PAGES = ['/docs', '/docs/reference', '/docs/export-format', '/docs/errors', '/docs/versioning'];

test('every link in the documentation works', async () => {
  const { page, close } = await open(browser, server);
  const links = new Set(['/llms.txt']);
  for (const path of PAGES) {
    await page.goto(server.url + path);
    for (const link of await page.locator('a[href]').evaluateAll((all) => all.map(({ href }) => href))) links.add(link);
  }
  const prose = await (await fetch(`${server.url}/llms.txt`)).text();
  for (const [, path] of prose.matchAll(/\]\((\/[^)]*)\)/g)) links.add(path);
  for (const link of links) {
    const url = new URL(link, server.url);
    assert.equal(url.origin, server.url, link);
    const path = url.pathname.replace('%7Bid%7D', 'demo-hedgehog-ehs').replace('{id}', 'demo-hedgehog-ehs');
    const { status } = await fetch(server.url + path + url.search, { headers: { authorization: `Bearer ${server.key}` }, redirect: 'manual' });
    // Without a session, a page redirects to the sign-in page.
    assert.ok(status === 200 || (status === 303 && !path.startsWith('/v1')), `${link}: ${status}`);
  }
  await close();
});

test('getting started shows install lines, a working request and its response, and cuts nothing off', async () => {
  for (const viewport of [PHONE, DESKTOP]) {
    const { page, close } = await open(browser, server, { viewport });
    await page.goto(`${server.url}/docs`);
    const codes = await page.locator('pre code').allTextContents();
    for (const line of ['npm install CLONE/', 'pip install ./']) assert.ok(codes.some((code) => code.includes(line)), line);
    const curl = codes.find((code) => code.startsWith('curl'));
    assert.ok(curl.includes(server.url));
    const env = { ...process.env, API_KEY: server.key };
    const answer = JSON.parse(execFileSync('bash', ['-c', curl.replace('curl', 'curl -sS --fail')], { env, encoding: 'utf8' }));
    assert.ok(answer.pagination.total > 0, 'the example finds something');
    const example = JSON.parse(codes.find((code) => code.startsWith('{')));
    for (const member of Object.keys(answer)) assert.ok(member in example, member);
    const clipped = await page.locator('main *').evaluateAll((all) => all.filter((node) => node.scrollWidth > node.clientWidth + 1
      && getComputedStyle(node).display !== 'inline').map((node) => node.textContent));
    assert.deepEqual(clipped, []);
    await close();
  }
});

test('the reference shows every operation, and one can be tried with a key that is typed in', async () => {
  const { page, close } = await open(browser, server);
  await page.goto(`${server.url}/docs/reference`);
  const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
  const shown = await page.locator('.operation > summary code').allTextContents();
  assert.deepEqual(shown.sort(), Object.keys(paths).map((path) => `GET ${path}`).sort());
  await page.goto(`${server.url}/docs/reference#searchSoftware`);
  await page.getByLabel('Key for the forms below').fill(server.key);
  const operation = page.locator('.operation', { has: page.locator('#searchSoftware') });
  await operation.locator('form summary').click();
  await operation.locator('input[name=q]').fill('lockout');
  await operation.locator('input[name=facets]').fill('category,rating');
  const answering = page.waitForResponse((response) => response.url().includes('/v1/search'));
  await operation.getByRole('button', { name: 'Send' }).click();
  const answer = await answering;
  assert.equal(answer.status(), 200);
  assert.ok(answer.url().startsWith(`${server.url}/v1/search?q=lockout&facets=category&facets=rating`), answer.url());
  await operation.getByRole('status').filter({ hasText: '200' }).waitFor();
  assert.match(await operation.locator('output').innerText(), /"pagination"/);
  await close();
});

test('the reference is readable without scripts, and its links open an operation', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${server.url}/docs/reference#getSoftware`);
  assert.ok(await page.locator('#getSoftware').isVisible());
  assert.equal(await page.locator('main form:visible').count(), 0);
  await context.close();
});

for (const scheme of ['light', 'dark']) {
  for (const width of [390, 1280]) {
    test(`the reference fits ${width} px with everything open, ${scheme}`, async () => {
      const { page, close } = await open(browser, server, { viewport: { width, height: 900 }, scheme });
      await page.goto(`${server.url}/docs/reference`);
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      // A code block scrolls on its own; nothing else is wider than its container.
      const wide = await page.locator('main *:not(pre, pre *)').evaluateAll((all) => all
        .filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline')
        .map((node) => `${node.tagName} ${node.className} ${node.textContent.slice(0, 40)}`));
      assert.deepEqual(wide, []);
      await close();
    });
  }
}

test('a problem’s type leads to the code, its cause and its fix', async () => {
  const { page, close } = await open(browser, server);
  for (const path of ['/v1/software', '/nowhere']) {
    const problem = await (await fetch(server.url + path)).json();
    await page.goto(new URL(problem.type, server.url).href);
    const section = page.locator('section:target');
    assert.match(await section.innerText(), new RegExp(`${problem.code}[\\s\\S]*${problem.status}[\\s\\S]*Fix:`));
    assert.ok(await section.isVisible());
  }
  await close();
});

test('pages and documentation forbid everything that they do not need', async () => {
  for (const path of ['/sign-in', '/no/such/page', ...PAGES]) {
    const { headers } = await fetch(server.url + path, { headers: { accept: 'text/html' } });
    const policy = headers.get('content-security-policy');
    for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), `${path}: ${part}`);
    }
    assert.ok(!policy.includes('unsafe'), path);
    assert.deepEqual([headers.get('x-content-type-options'), headers.get('referrer-policy')], ['nosniff', 'same-origin']);
  }
});
