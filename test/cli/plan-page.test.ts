import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { declaredObjects } from '../../api/cli/declared-folder.ts';
import { isObject } from '../../crds/path.ts';
import { shellBlocks } from '../operator/shell-page.ts';
import { startApi } from '../support/api.ts';
import type { DeclaredResource, TestApi } from '../support/api.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const run = promisify(execFile);
const page = readFileSync('docs/reference/plan.md', 'utf8');
const secret = 'the secret of the plan';

/** Returns the text of the first block in a language. */
function block(language: string): string {
  return new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(page)?.[1] ?? '';
}

/** Returns the policy that the page shows. */
function shownPolicy(): DeclaredResource {
  const manifest: unknown = parse(block('yaml'));
  const spec = isObject(manifest) && isObject(manifest['spec']) ? manifest['spec'] : {};
  return { ...spec, kind: 'AccessPolicy', id: 'access-plan' };
}

describe('docs/reference/plan.md', () => {
  let api: TestApi;
  let boxctl: Boxctl;

  before(async () => {
    api = await startApi();
    boxctl = await startBoxctl({});
    const before = declaredObjects('examples/plan/before', 'shop').map(({ kind, id, resource }): DeclaredResource => {
      const { resourceType: _type, ...fields } = resource;
      return { ...fields, kind, id, ...(kind === 'Client' ? { secret } : {}) };
    });
    const planner: DeclaredResource = {
      kind: 'Client',
      id: 'access-plan',
      grant_types: ['client_credentials'],
      secret,
    };
    await api.declare('shop', [planner, shownPolicy(), ...before]);
    // As if created over REST: a plan leaves them alone.
    await api.remove('shop', [
      { kind: 'Client', id: 'access-plan', retain: true },
      { kind: 'AccessPolicy', id: 'access-plan', retain: true },
    ]);
  });
  after(async () => {
    await boxctl.remove();
    await api.stop();
  });

  it('its commands print what it says', async () => {
    const [shell] = shellBlocks(page);
    const commands = (shell?.commands ?? '').replaceAll('http://127.0.0.1:8080', api.url);
    const { stdout } = await run('sh', ['-ec', commands], {
      env: { PATH: process.env['PATH'], HOME: boxctl.home, PLAN_SECRET: secret },
    });
    const lines = (text: string): readonly string[] =>
      text
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ {2,}/g, '  '));
    // The request of the plan itself may be recorded by now, or not.
    const plain = (text: string): readonly string[] =>
      lines(text).map((line) => line.replace(/Of \d+ compared/, 'Of n compared'));
    expect(plain(stdout)).to.deep.equal(plain(block('text')));
  });
});
