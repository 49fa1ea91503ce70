import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { routes, subtrees } from '../../api/app.ts';
import { openApiDocument } from './document.ts';

// Run by `make generate`. The same sources always give the same bytes.
const text = JSON.stringify(openApiDocument({ routes, subtrees }));
const options = { ...(await resolveConfig('package.json')), parser: 'json' };
writeFileSync('api/http/endpoints/openapi.json', await format(text, options));
