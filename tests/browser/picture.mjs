// Takes the README's screenshot: a product's page, with its sources and the dates they were checked.

import { join } from 'node:path';

import { launch, open } from './browser.mjs';
import { start } from './server.mjs';

const [server, browser] = await Promise.all([start(), launch()]);
try {
  const { page, visit, close } = await open(browser, server, { viewport: { width: 1280, height: 910 } });
  await visit('/software/demo-hedgehog-ehs');
  await page.screenshot({ path: join(import.meta.dirname, '../../docs/page.png') });
  await close();
} finally {
  await browser.close();
  await server.stop();
}
