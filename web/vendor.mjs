// Copies the browser libraries from node_modules into static/vendor, where they are committed so that `go build`
// needs no npm. With --check it changes nothing and fails if a committed file differs from npm's.
//
// htmx and its extension are one file: htmx begins as soon as it has been read, and a page whose extension arrived after
// that would never open its stream.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const files = {
  "htmx.min.js": ["node_modules/htmx.org/dist/htmx.min.js", "node_modules/htmx.org/dist/ext/hx-sse.min.js"],
  "LICENSE.htmx.txt": ["node_modules/htmx.org/LICENSE"],
};
const check = process.argv.includes("--check");
let different = 0;

mkdirSync(join(here, "static/vendor"), { recursive: true });
for (const [name, sources] of Object.entries(files)) {
  const content = sources.map((source) => readFileSync(join(here, source), "utf8")).join("\n");
  const to = join(here, "static/vendor", name);
  if (!check) {
    writeFileSync(to, content);
    continue;
  }
  if (content !== readFileSync(to, "utf8")) {
    console.error(`web/static/vendor/${name} differs from ${sources.join(" and ")}: run "npm run vendor --prefix web"`);
    different++;
  }
}
process.exit(different ? 1 : 0);
