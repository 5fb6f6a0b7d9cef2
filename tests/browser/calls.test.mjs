// "This call": what each view asked, in three languages, ready to copy and true.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { launch, open, settled } from './browser.mjs';
import { HOSTILE, start } from './server.mjs';

let server;
let hostile;
let browser;
before(async () => { [server, hostile, browser] = await Promise.all([start(), start({ data: HOSTILE }), launch()]); });
after(async () => { await browser?.close(); await server?.stop(); await hostile?.stop(); });

/** The code shown for a language. */
async function shown(page, language) {
  if (!await page.locator('details.call').evaluate((details) => details.open)) await page.locator('details.call summary').click();
  await page.getByRole('tab', { name: language }).click();
  return page.locator('details.call code').textContent();
}

const answer = (curl, key) => JSON.parse(execFileSync('bash', ['-c', curl.replaceAll('curl ', 'curl -sS --fail ')], {
  env: { ...process.env, SOFTWARE_DIRECTORY_API_KEY: key }, encoding: 'utf8',
}));

test('curl of each view answers what the view shows', async () => {
  const { page, visit, close } = await open(browser, server);
  for (const [view, count] of [
    ['/?q=permit+to+work&category=ehs-management&category=audit-management&sort=name', '.result'],
    ['/?standards=ISO+9001&standards=ISO+45001&deployment=cloud&sort=-evidence_checked_on', '.result'],
    ['/categories', '.card'], ['/glossary?q=audit', '.term-entry'], ['/exports', '.export'],
  ]) {
    await visit(view);
    const { data } = answer(await shown(page, 'curl'), server.key);
    assert.ok(data.length > 0, view);
    assert.equal(data.length, await page.locator(count).count(), view);
  }
  await visit('/software/demo-hedgehog-ehs');
  const [product, reviews, similar] = (await shown(page, 'curl')).split('\n\n');
  assert.equal(answer(product, server.key).data.id, 'demo-hedgehog-ehs');
  assert.equal(answer(reviews, server.key).data.length, await page.locator('.review').count());
  assert.deepEqual(answer(similar, server.key).data.map(({ name }) => name), await page.locator('.similar h3').allTextContents());
  await close();
});

test('curl survives hostile ids and queries', async () => {
  const { page, visit, close } = await open(browser, hostile);
  await visit(`/software/${encodeURIComponent('odd id/?#%2F&"\'<b>')}`.replace('odd', 'hostile-odd'));
  const [product] = (await shown(page, 'curl')).split('\n\n');
  assert.equal(answer(product, hostile.key).data.id, 'hostile-odd id/?#%2F&"\'<b>');
  await visit(`/?q=${encodeURIComponent("'; touch /tmp/x; echo ' $(hostile) `")}`);
  assert.ok(Array.isArray(answer(await shown(page, 'curl'), hostile.key).data));
  await close();
});

test('TypeScript and Python are those of the clients', async () => {
  const { page, visit, close } = await open(browser, server);
  await visit('/?q=near+miss&min_rating=3');
  const typescript = await shown(page, 'TypeScript');
  assert.ok(typescript.includes(`new SoftwareDirectory({ apiKey: process.env.SOFTWARE_DIRECTORY_API_KEY!, baseUrl: "${server.url}" })`), typescript);
  assert.match(typescript, /await client\.search\.products\(\{ q: "near miss", .*3/);
  const python = await shown(page, 'Python');
  assert.ok(python.includes(`SoftwareDirectory(api_key=os.environ["SOFTWARE_DIRECTORY_API_KEY"], base_url="${server.url}")`), python);
  assert.match(python, /client\.search\.products\(q="near miss", min_rating=3, .*highlight=True/);
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: python });
  for (const [view, expected] of [
    ['/software/demo-hedgehog-ehs', /client\.software\.get\("demo-hedgehog-ehs"\)[\s\S]*client\.reviews\.list\("demo-hedgehog-ehs"\)[\s\S]*similar = client\.software\.similar\("demo-hedgehog-ehs", limit=5\)/],
    ['/?languages=German&tags=8D&tags=gauges', /client\.search\.products\(languages="German", tags=\["8D", "gauges"\]/],
    ['/categories', /client\.categories\.list\(/], ['/glossary?q=audit', /client\.glossary\.list\(q="audit"/], ['/exports', /client\.exports\.list\(\)/],
  ]) {
    await visit(view);
    assert.match(await page.locator('details.call code').textContent(), expected, 'open, and in the language chosen before');
  }
  await close();
});

test('the key is in the call only if asked for, and the call is copied', async () => {
  const { page, visit, close } = await open(browser, server, { permissions: ['clipboard-read', 'clipboard-write'] });
  await visit('/');
  const code = await shown(page, 'curl');
  assert.ok(!code.includes(server.key));
  await page.getByLabel('with my key').check();
  await page.locator('details.call').getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.includes(server.key));
  assert.equal(answer(copied, '').data.length, 20);
  await page.getByRole('tab', { name: 'curl' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'TypeScript');
  await settled(page);
  await close();
});
