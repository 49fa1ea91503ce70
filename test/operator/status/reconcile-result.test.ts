import { expect } from 'chai';
import { isSameResult, type ReconcileResult } from '../../../operator/status/reconcile-result.ts';
import { machineClient } from '../declare.ts';
import { resultOf, NOW } from '../result-of.ts';

describe('isSameResult', () => {
  const one = resultOf(machineClient('app'));
  const different: [title: string, fields: Partial<ReconcileResult>][] = [
    ['what is desired', { desired: { ...one.desired } }],
    ['the row', { row: 'pending' }],
    ['the number of policies', { policies: 1 }],
    ['the number of clients', { clients: 1 }],
    ['a link', { dangling: ['Client/x'] }],
    ['the rule', { unusable: [{ path: 'spec.expression', message: 'does not compile' }] }],
    ['the issuer', { issuer: 'i' }],
    ['the address inside the cluster', { inClusterTokenUrl: 'u' }],
    ['the Service', { service: { state: 'ready' } }],
    ['a problem of the Service', { service: { state: 'missing', reason: 'ServiceForbidden', message: 'm' } }],
    ['a refused finalizer', { refusal: 'no' }],
    ['an API that does not answer', { apiFault: 'why' }],
    ['the number of users', { users: 1 }],
    ['the sessions of a client', { usage: { id: 'app', live_sessions: 1 } }],
    ['the last use of a previous secret', { usage: { id: 'app', live_sessions: 0, previous_secret_last_used: NOW } }],
    ['the last token of a client', { usage: { id: 'app', live_sessions: 0, last_token_at: NOW } }],
  ];

  it('holds for the same input', () => {
    expect(isSameResult(one, { ...one, unusable: [] })).to.equal(true);
  });
  for (const [title, fields] of different) {
    it(`tells apart ${title}`, () => {
      expect(isSameResult(one, { ...one, ...fields })).to.equal(false);
    });
  }
});
