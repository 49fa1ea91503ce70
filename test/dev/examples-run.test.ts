import { isObject } from '../../crds/path.ts';
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { runBoxgate } from './boxgate-process.ts';
import { anyPorts } from './dev-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

describe('the examples, applied by boxgate dev', () => {
  it('are all Ready on a Postgres of their own, and nothing is left in their folder', async () => {
    const state = temporaryFolder();
    const was = existsSync('examples/standalone/.boxgate');
    try {
      const { code, stdout, stderr } = await runBoxgate([
        'dev',
        'examples/standalone',
        ...anyPorts,
        '--once',
        '--state',
        state.root,
      ]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const rows = [...stdout.matchAll(/^default +(\w+)\.boxgate\.dev\/(\S+) .* (\w+) +\w+$/gm)];
      const statuses = rows.map(([, kind = '', name = '', ready = '']) => `${kind}/${name} ${ready}`);
      expect(statuses.sort()).to.deep.equal(
        declared()
          .map((name) => `${name} True`)
          .sort(),
      );
      expect(existsSync(state.path('data/postmaster.pid')), 'a Postgres was left').to.equal(false);
      expect(existsSync('examples/standalone/.boxgate')).to.equal(was);
    } finally {
      state.remove();
    }
  });
});

/** `client/reporting`, for each object of the examples. */
function declared(): readonly string[] {
  return readdirSync('examples/standalone')
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(`examples/standalone/${file}`, 'utf8')))
    .flatMap((document) => {
      const value: unknown = document.toJS();
      if (!isObject(value) || !isObject(value['metadata'])) return [];
      return [`${String(value['kind']).toLowerCase()}/${String(value['metadata']['name'])}`];
    });
}
