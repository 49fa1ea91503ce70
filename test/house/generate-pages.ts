import { writeFileSync } from 'node:fs';
import { resourceReference } from '../../crds/reference.ts';
import { conditionsPage } from './conditions-page.ts';
import { conformancePage } from '../oauth/openid/conformance/conformance-page.ts';

// Run by `make generate`. The same sources always give the same bytes.
writeFileSync('docs/reference/custom-resources.md', resourceReference());
writeFileSync('docs/reference/conditions.md', conditionsPage());
writeFileSync('docs/reference/conformance.md', conformancePage());
