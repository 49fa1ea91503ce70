import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { customResourceDefinition } from './crd.ts';
import { API_GROUP, KINDS } from './kind.ts';

// Run by `make generate`. The same sources always give the same bytes.
const HEADER = '# Made from the schemas in crds/*.ts by `make generate`. Do not edit.\n';
const root = new URL('../', import.meta.url);

for (const { kind, plural } of Object.values(KINDS)) {
  const text = stringify(customResourceDefinition(kind), {
    // kubectl reads YAML 1.1, where a plain `n` is false.
    compat: 'yaml-1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
    singleQuote: true,
  });
  writeFileSync(new URL(`crds/${API_GROUP}_${plural}.yaml`, root), HEADER + text);
}
