// Lists what changed in a product's record.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [product] = (await directory.software.list({ limit: 1 })).data;
const history = await directory.software.history(product!.id);
console.log(`recorded since ${history.since}`);
for (const { at, changes } of history.data) {
  for (const { property, from, to } of changes) {
    console.log(`${at} ${property}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`);
  }
}
