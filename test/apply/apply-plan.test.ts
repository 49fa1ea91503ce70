import { expect } from 'chai';
import { parseApplyLine } from '../../api/http/management/management-lines.ts';
import type { DeclaredResource } from '../../api/db/resource/resource.ts';
import { validateLine, planApply } from '../../api/apply/plan.ts';

describe('validateLine', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');

  const declared = { Client: { grant_types: ['implicit'], auth: redirecting() }, Box: {} } as const;
  for (const kind of ['Client', 'Box'] as const) {
    it(`refuses a ${kind} that revokes what has not begun yet: it counts for good, and no token would live until then`, () => {
      expect(validated(kind, '2026-01-31T12:00:00.001Z').refused).to.deep.equal([
        { path: 'revoke_sessions_before', message: 'must not lie in the future' },
      ]);
    });

    it(`takes a ${kind} that revokes what began before now`, () => {
      const { refused, resource } = validated(kind, '2026-01-31T13:00:00+01:00');
      expect(refused).to.equal(undefined);
      expect(resource).to.include({ revoke_sessions_before: '2026-01-31T13:00:00+01:00' });
    });
  }

  function validated(kind: keyof typeof declared, moment: string) {
    const resource = { resourceType: kind, id: 'x1', ...declared[kind], revoke_sessions_before: moment };
    const owner = { name: 'default/x1', uid: 'u' };
    return validateLine(parseApplyLine({ kind, id: 'x1', owner, digest: 'd', resource }), now, listed);
  }
});

describe('planApply', () => {
  const head = { cluster: 'c', epoch: 1, complete: false };
  const mine = { name: 'default/x1', uid: 'u' };
  const row = {
    kind: 'Client',
    id: 'x1',
    version: 3,
    digest: 'd',
    retain: false,
    purge: false,
  } as const;
  const owned = { ...row, owner: { cluster: 'c', ...mine } };
  const declare = { kind: 'Client', id: 'x1', owner: mine, digest: 'd', resource: {} };
  const removal = { kind: 'Client', id: 'x1', owner: mine, delete: true };
  const other = { ...declare, owner: { name: 'default/x2', uid: 'v' } };

  const cases: [title: string, lines: readonly object[], found: readonly DeclaredResource[], results: string][] = [
    ['a row that is there as it should be', [declare], [owned], 'unchanged'],
    ['a row that nobody owns', [declare], [{ ...row, owner: undefined }], 'conflict'],
    [
      'a row that nobody owns, to be adopted',
      [{ ...declare, adopt: 'unowned' }],
      [{ ...row, owner: undefined }],
      'updated',
    ],
    [
      'a row that nobody owns, to be adopted by force',
      [{ ...declare, adopt: 'force' }],
      [{ ...row, owner: undefined }],
      'updated',
    ],
    ["another object's row, to be adopted by force", [{ ...other, adopt: 'force' }], [owned], 'conflict'],
    ["another object's row, to be adopted", [{ ...other, adopt: 'unowned' }], [owned], 'conflict'],
    [
      "another installation's row, to be adopted",
      [{ ...declare, adopt: 'unowned' }],
      [{ ...row, owner: { cluster: 'd', ...mine } }],
      'conflict',
    ],
    ['a row whose object goes', [removal], [owned], 'deleted -x1'],
    ['a row whose object goes with its kind', [{ ...removal, retain: true }], [owned], 'retained ~x1'],
    ['a row whose object goes, to be retained', [removal], [{ ...owned, retain: true }], 'retained ~x1'],
    ['a row that passes to another object', [removal, other], [owned], 'deleted created -x1'],
    [
      'a row that is retained, which another object wants',
      [removal, other],
      [{ ...owned, retain: true }],
      'retained conflict ~x1',
    ],
    [
      'a row that is retained, and adopted by another object',
      [removal, { ...other, adopt: 'unowned' }],
      [{ ...owned, retain: true }],
      'retained updated ~x1',
    ],
    ["a delete of another's row", [{ ...removal, owner: { name: 'default/x2', uid: 'v' } }], [owned], 'conflict'],
    [
      'C-10 a late delete of a row whose object was created again under its name',
      [removal],
      [{ ...row, owner: { cluster: 'c', name: mine.name, uid: 'made-again' } }],
      'conflict',
    ],
    ["a delete of another installation's row", [removal], [{ ...row, owner: { cluster: 'd', ...mine } }], 'conflict'],
    ['a delete of a row that nobody owns', [removal], [{ ...row, owner: undefined }], 'conflict'],
  ];
  for (const [title, lines, found, expected] of cases) {
    it(`answers for ${title}: ${expected}`, () => {
      const validatedLines = lines.map((line) => {
        const resource = { resourceType: 'Client', id: 'x1', grant_types: ['password'] };
        return validateLine(parseApplyLine('resource' in line ? { ...line, resource } : line), 0, listed);
      });
      const { results, deletes, releases } = planApply(head, validatedLines, found);
      const said = [
        ...results.map(({ result }) => result),
        ...deletes.map(({ id }) => `-${id}`),
        ...releases.map(({ id }) => `~${id}`),
      ];
      expect(said.join(' ')).to.equal(expected);
    });
  }
});

/** Every host is asked for keys. */
const listed = { unlistedHost: () => undefined };

function redirecting() {
  return { implicit: { redirect_uri: 'https://app.example.com/' } } as const;
}
