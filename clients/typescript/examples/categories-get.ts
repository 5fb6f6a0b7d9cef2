// Looks up one category.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [first] = (await directory.categories.list({ limit: 1 })).data;
const category = await directory.categories.get(first!.id);
console.log(`${category.name}: ${category.software_count} products`);
