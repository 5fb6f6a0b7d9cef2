// Shows one product in full.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [first] = (await directory.software.list({ limit: 1 })).data;
const product = await directory.software.get(first!.id);
console.log(product.name, "by", product.vendor ?? "an unknown vendor");
console.log(product.description ?? "(no description)");
for (const source of product.sources) console.log(`- ${source.label}: ${source.url}`);
console.log("from", product.export.name, product.export.license);
