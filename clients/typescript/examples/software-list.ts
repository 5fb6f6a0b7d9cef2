// Lists all products in a category, across all pages.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

for await (const product of directory.software.list({ category: "EHS management", limit: 50 })) {
  console.log(`${product.name}  ${product.website}`);
}
