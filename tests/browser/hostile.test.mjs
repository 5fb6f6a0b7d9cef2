// An export that tries every trick. Its text is shown as text, and only http and https URLs become links.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { DESKTOP, launch, open, PHONE } from './browser.mjs';
import { HOSTILE, start } from './server.mjs';

let server;
let browser;
before(async () => { [server, browser] = await Promise.all([start({ data: HOSTILE, options: ['--public-page', '6000/min'] }), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); });

const VIEWS = ['/', '/?q=', '/?q=hostile', '/?q=nothing+%3Cb%3Ehas%3C%2Fb%3E+that&tags=%3Cb%3E', '/categories/hostile', '/compare?id=hostile-markup&id=hostile-rtl&id=hostile-javascript&id=hostile-giant', '/?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E', '/categories', '/glossary', '/glossary?q=hostile', '/exports',
  ...['hostile-markup', 'hostile-javascript', 'hostile-rtl', 'hostile-giant', 'hostile-odd id/?#%2F&"\'<b>', 'hostile-future', 'hostile-zalgo'].map((id) => `/software/${encodeURIComponent(id)}`)];

for (const viewport of [DESKTOP, PHONE]) {
  test(`a hostile export is harmless at ${viewport.width} pixels`, async () => {
    const { page, visit, close } = await open(browser, server, { viewport, expected: [/404/] });
    for (const view of VIEWS) {
      await visit(view);
      const found = await page.evaluate(() => ({
        pwned: 'pwned' in window,
        polluted: 'polluted' in {},
        foreign: [...document.querySelectorAll('main script, main iframe, main img, main object, main style, main [style*="url"], main [onerror], main [onclick]')].map((node) => node.outerHTML),
        links: [...document.querySelectorAll('main a[href]')].map((link) => link.protocol).filter((protocol) => !['http:', 'https:'].includes(protocol)),
        relations: [...document.querySelectorAll('main a[href]')].filter((link) => link.origin !== location.origin && !link.rel.includes('noreferrer')).length,
        wider: document.documentElement.scrollWidth > window.innerWidth,
      }));
      assert.deepEqual(found, { pwned: false, polluted: false, foreign: [], links: [], relations: 0, wider: false }, view);
    }
    await close();
  });
}

test('markup in a record is shown as written', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/hostile-markup');
  const text = await page.locator('main').innerText();
  assert.ok(text.includes('<script>window.pwned=1</script><img src=x onerror="window.pwned=1">'));
  assert.ok(text.includes('&lt;mark&gt; </mark><mark>hostile</mark>'), 'entities stay as they are');
  assert.ok(text.includes('12345678901234567890'), 'every digit of a number');
  assert.ok(text.includes('javascript:window.pwned=1'), 'an address that is not a link is still shown');
  assert.ok(text.includes('__proto__'));
  await visit('/?q=hostile');
  const marks = await page.locator('.result mark').allTextContents();
  assert.ok(marks.length > 0 && marks.every((mark) => /hostile/i.test(mark)), String(marks));
  await close();
});

test('markup in a suggestion is text', async () => {
  for (const viewport of [DESKTOP, PHONE]) {
    const { page, visit, close } = await open(browser, server, { viewport });
    await visit('/');
    await page.locator('#q').click();
    for (const text of ['markup', 'script', 'onerror']) {
      await page.locator('#q').fill(text);
      const address = `${server.url}/v1/suggest?limit=4&q=${text}`;
      const answer = await (await fetch(address, { headers: { authorization: `Bearer ${server.key}` } })).json();
      const written = [...answer.data.software.map(({ name }) => name), ...answer.data.categories.map(({ name }) => name), ...answer.data.glossary.map(({ term }) => term)];
      assert.ok(written.some((name) => name.includes('<script>')), text);
      await page.waitForFunction((names) => {
        const shown = [...document.querySelectorAll('[role=option] > bdi')].map((node) => node.textContent);
        return names.length === shown.length && names.every((name, at) => name === shown[at]);
      }, written);
      const found = await page.evaluate(() => ({
        pwned: 'pwned' in window,
        elements: [...new Set([...document.querySelectorAll('#suggestions *')].map(({ localName }) => localName))].filter((name) => !['div', 'span', 'bdi'].includes(name)),
        wider: document.documentElement.scrollWidth > window.innerWidth || document.querySelector('#suggestions').scrollWidth > document.querySelector('#suggestions').clientWidth,
      }));
      assert.deepEqual(found, { pwned: false, elements: [], wider: false }, text);
    }
    await close();
  }
});

test('a record’s writing direction changes nothing around it', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/software/hostile-rtl');
  assert.doesNotMatch(await page.title(), /[\u202a-\u202e\u2066-\u2069]/);
  const outside = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      if (/[\u202a-\u202e\u2066-\u2069]/.test(walker.currentNode.data) && !walker.currentNode.parentElement.closest('bdi, code')) found.push(walker.currentNode.data);
    }
    return found;
  });
  assert.deepEqual(outside, []);
  await close();
});

test('a hostile name in a badge is only its accessible name', async () => {
  const { page, close } = await open(browser, server);
  for (const id of ['hostile-markup', 'hostile-rtl', 'hostile-giant', 'hostile-zalgo']) {
    const response = await page.goto(`${server.url}/software/${id}/badge.svg`);
    assert.equal(response.headers()['content-type'], 'image/svg+xml', id);
    const found = await page.evaluate(() => ({
      pwned: 'pwned' in window,
      elements: [...document.querySelectorAll('*')].map((node) => node.localName),
      handlers: [...document.querySelectorAll('*')].flatMap((node) => node.getAttributeNames()).filter((name) => /^on|href/.test(name)),
      isNamed: document.documentElement.getAttribute('aria-label').length < 600,
    }));
    assert.deepEqual(found, { pwned: false, elements: ['svg', 'title', 'style', 'rect', 'text'], handlers: [], isNamed: true }, id);
  }
  await close();
});
