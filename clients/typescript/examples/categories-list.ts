// Lists the categories and the number of products in each.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

for await (const category of directory.categories.list()) {
  console.log(`${String(category.software_count).padStart(4)}  ${category.name} (${category.id})`);
}
