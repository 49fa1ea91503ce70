import { expect } from 'chai';
import { parseApplyLine } from '../../api/http/management-lines.ts';
import { judgeLine } from '../../api/resources/apply-plan.ts';

describe('judgeLine', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');

  const declared = { Client: { grant_types: ['implicit'], auth: redirecting() }, Box: {} } as const;
  for (const kind of ['Client', 'Box'] as const) {
    it(`refuses a ${kind} that revokes what has not begun yet: it counts for good, and no token would live until then`, () => {
      expect(judged(kind, '2026-01-31T12:00:00.001Z').refused).to.deep.equal([
        { path: 'revoke_sessions_before', message: 'must not lie in the future' },
      ]);
    });

    it(`takes a ${kind} that revokes what began before now`, () => {
      const { refused, resource } = judged(kind, '2026-01-31T13:00:00+01:00');
      expect(refused).to.equal(undefined);
      expect(resource).to.include({ revoke_sessions_before: '2026-01-31T13:00:00+01:00' });
    });
  }

  function judged(kind: keyof typeof declared, moment: string) {
    const resource = { resourceType: kind, id: 'x1', ...declared[kind], revoke_sessions_before: moment };
    const owner = { name: 'default/x1', uid: 'u' };
    return judgeLine(parseApplyLine({ kind, id: 'x1', owner, digest: 'd', resource }), now);
  }
});

function redirecting() {
  return { implicit: { redirect_uri: 'https://app.example.com/' } } as const;
}
