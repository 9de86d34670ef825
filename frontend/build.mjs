// Bundles src/ into ../src/interplay/study/static and writes there what it was built from, so that a test without node can tell whether
// the shipped build is fresh. `npm run check` (tsc) comes first: esbuild itself checks no types.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = dirname(fileURLToPath(import.meta.url));
const out = join(web, "..", "src", "interplay", "study", "static");
const FIXED = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];

const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
const sha = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** One hash of all sources: of the lines "HASH  PATH" sorted by path, as `sha256sum` prints them. */
function sources() {
  const paths = [...files(join(web, "src")), ...FIXED.map((name) => join(web, name))];
  const named = paths.map((path) => [relative(web, path).split("\\").join("/"), path]);
  named.sort(([a], [b]) => (a < b ? -1 : 1));
  return sha(named.map(([name, path]) => `${sha(readFileSync(path))}  ${name}\n`).join(""));
}

const hash = sources();
const options = { bundle: true, minify: true, legalComments: "none", write: false, logLevel: "warning" };
const [script, style] = await Promise.all([
  build({ ...options, entryPoints: [join(web, "src/main.ts")], format: "iife", target: "es2022", charset: "utf8" }),
  build({ ...options, entryPoints: [join(web, "src/style.css")], charset: "utf8" }),
]);
/** The words of the frame by key and language, for the server: it checks what studies translate. */
async function words() {
  const module = await build({ ...options, entryPoints: [join(web, "src/words.ts")], format: "esm", target: "es2022" });
  const { EN, ZH } = await import(`data:text/javascript;base64,${Buffer.from(module.outputFiles[0].text).toString("base64")}`);
  const both = Object.fromEntries(Object.entries(EN).map(([key, text]) => [key, { en: text, zh: ZH[key] }]));
  return JSON.stringify(both, null, 1) + "\n";
}

const made = {
  "app.js": script.outputFiles[0].text,
  "style.css": style.outputFiles[0].text,
  "words.json": await words(),
  "index.html": readFileSync(join(web, "src/index.html"), "utf8").replaceAll("VERSION", hash.slice(0, 12)),
};
mkdirSync(out, { recursive: true });
for (const [name, text] of Object.entries(made)) writeFileSync(join(out, name), text);
const record = { sources: hash, files: Object.fromEntries(Object.entries(made).map(([name, text]) => [name, sha(text)])) };
writeFileSync(join(out, "build.json"), JSON.stringify(record, null, 2) + "\n");
console.log(`static/ built from ${hash.slice(0, 12)}: app.js ${made["app.js"].length} bytes`);
