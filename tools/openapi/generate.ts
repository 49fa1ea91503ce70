// `node tools/openapi/generate.ts`: writes the OpenAPI document where the API reads it, unless it is newer than what it
// is made from, or the checkout cannot be written. With a file name: writes it there.
import { accessSync, constants, globSync, statSync, writeFileSync } from 'node:fs';

const served = 'api/http/endpoints/openapi.json';
const [, , file] = process.argv;
if (file !== undefined || (isWritable() && isStale())) {
  const { routes, subtrees } = await import('../../api/app.ts');
  const { openApiDocument } = await import('./document.ts');
  writeFileSync(file ?? served, `${JSON.stringify(openApiDocument({ routes, subtrees }), null, 2)}\n`);
}

function isStale(): boolean {
  const written = statSync(served, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync(['crds/*.ts', 'api/**/*.ts', 'tools/openapi/*']).some((source) => statSync(source).mtimeMs > written);
}

function isWritable(): boolean {
  try {
    accessSync('.', constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
