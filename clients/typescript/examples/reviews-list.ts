// Shows the reviews of the product with the most reviews, page by page.

import { SoftwareDirectory } from "software-directory";

const directory = new SoftwareDirectory({
  apiKey: process.env["SOFTWARE_DIRECTORY_API_KEY"]!,
  baseUrl: process.env["SOFTWARE_DIRECTORY_URL"]!,
});

const [product] = (await directory.software.list({ sort: "-review_count", limit: 1 })).data;
for await (const page of directory.reviews.list(product!.id, { limit: 2 }).pages()) {
  console.log(`${page.summary.count} reviews, average ${page.summary.average}; from ${page.pagination.offset}`);
  for (const review of page.data) console.log(`  ${"*".repeat(review.rating)} ${review.title ?? ""}`);
}
