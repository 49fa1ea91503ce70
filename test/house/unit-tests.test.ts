import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unitTests } from './unit-tests.ts';

const tree = {
  'test/support/postgres.ts': '',
  'test/support/api.ts': "import {\n  freshDatabase,\n} from './postgres.ts';",
  'crds/x.ts': "import type { Y } from '../api/y.ts';",
  'api/y.ts': "export const y = 1; // import '../test/support/postgres.ts'",
  'test/a/plain.test.ts': "import { x } from '../../crds/x.ts';",
  'test/a/around.test.ts': "import { loop } from './around.test.ts';\nimport { x } from '../../api/y.ts';",
  'test/a/types-only.test.ts': "import type { TestDatabase } from '../support/postgres.ts';",
  'test/a/direct.test.ts': "import { freshDatabase } from '../support/postgres.ts';",
  'test/a/process.test.ts': "import { execFile } from 'node:child_process';",
  'test/house/git.test.ts': "import { execFile } from 'node:child_process';",
  'test/a/far.test.ts': "import { x } from '../../crds/x.ts';\nimport { api } from '../support/api.ts';",
  'test/a/text.test.ts': "const text = `\nimport { x } from './not-there.ts';\n`;",
};

describe('the unit tests', () => {
  it('are the test files from which no import leads to a service or to a program that is started', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'boxgate-unit-'));
    for (const [file, text] of Object.entries(tree)) {
      mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    const found = unitTests(root).map((file) => path.basename(file, '.test.ts'));
    rmSync(root, { recursive: true });
    expect(found).to.deep.equal(['around', 'plain', 'text', 'types-only', 'git']);
  });
});
