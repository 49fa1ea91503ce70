import { expect } from 'chai';
import type { AccountState } from '../../../operator/desired/declared.ts';
import { resultsOfBox } from '../../../operator/status/box-results.ts';
import { emptyCache } from '../../../operator/reconcile/box-cache.ts';
import { desired, machineClient } from '../declare.ts';

const entry = { namespace: 'shop', name: 'orders' };
const state: AccountState = { ...entry, uid: 'one', index: 0, seen: null, gone: true };

const cases: readonly (readonly [title: string, entries: readonly object[], isKnown: boolean])[] = [
  ['an entry without a uid', [entry], true],
  ['an entry of the uid that was compared', [{ ...entry, uid: 'one' }], true],
  ['an entry of another uid', [{ ...entry, uid: 'two' }], false],
  ['an entry of another name at its place', [{ ...entry, name: 'bills' }, entry], false],
  ['no entry any more', [], false],
];

describe('resultsOfBox of a box whose last pass failed', () => {
  for (const [title, entries, isKnown] of cases) {
    it(`R-54 ${isKnown ? 'keeps' : 'does not tell'} what is known of a ServiceAccount, of ${title}`, () => {
      const service_accounts = entries.length === 0 ? {} : { service_accounts: entries };
      const client = machineClient('app', service_accounts);
      const cache = { ...emptyCache(), accounts: new Map([[client.key, [state]]]) };
      const one = desired(client, { secret: { state: 'none' } });
      const context = { servesServiceAccounts: () => true, apiFault: () => undefined, source: {} };
      const [input] = resultsOfBox({ box: 'shop', cache, context }, [one], 'unreachable');
      expect(input?.accounts).to.deep.equal(isKnown ? [state] : []);
    });
  }
});
