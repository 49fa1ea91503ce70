// `node tools/openapi/generate.ts <file>`: writes the OpenAPI document, by default where the API reads it.
import { writeFileSync } from 'node:fs';
import { routes, subtrees } from '../../api/app.ts';
import { openApiDocument } from './document.ts';

const file = process.argv[2] ?? 'api/http/endpoints/openapi.json';
writeFileSync(file, `${JSON.stringify(openApiDocument({ routes, subtrees }), null, 2)}\n`);
