// Lists products similar to a given one, and what they have in common.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [product] = (await directory.software.list({ limit: 1 })).data;
const similar = await directory.software.similar(product!.id, { limit: 3 });
console.log(`similar to ${product!.name}:`);
for (const { name, shared } of similar.data) {
  console.log(`  ${name}: ${[...shared.categories.map((category) => category.name), ...shared.words].join(", ")}`);
}
