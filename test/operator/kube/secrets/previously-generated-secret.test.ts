import { expect } from 'chai';
import { declaredObject, FINALIZER, hadGeneratedSecret } from '../../../../operator/kube/source/declared-object.ts';

const told = { secret: 'generated', secretName: 'app' };

/** Checks whether a Client with this status had the Secret `app`. */
function had(status: object | undefined, finalizers: readonly string[] = [FINALIZER], uid = 'u'): boolean {
  const metadata = { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1', generation: 1, finalizers };
  const client = declaredObject('Client', { metadata, spec: {}, status });
  if (client === undefined) throw new Error('no object');
  return hadGeneratedSecret({ get: () => client }, { namespace: 'shop', name: 'app', uid }, 'app');
}

describe('hadGeneratedSecret', () => {
  for (const reason of ['SecretGenerated', 'SecretNotRead', 'SecretForbidden', 'SecretRefused', 'SecretNotMade']) {
    it(`does not depend on how the Secret is now: ${reason}`, () => {
      const status = reason === 'SecretGenerated' ? 'True' : 'False';
      expect(had({ ...told, conditions: [{ type: 'SecretReady', status, reason }] })).to.equal(true);
    });
  }

  const nots: readonly [what: string, status: object | undefined, finalizers?: readonly string[], uid?: string][] = [
    ['without a status', undefined],
    ['whose secret came from elsewhere', { ...told, secret: 'inline' }],
    ['whose Secret had another name', { ...told, secretName: 'other' }],
    ['that never had a row', told, []],
    ['that is another one of the name', told, [FINALIZER], 'another'],
  ];
  for (const [what, status, finalizers, uid] of nots) {
    it(`is not so of a Client ${what}`, () => {
      expect(had(status, finalizers, uid)).to.equal(false);
    });
  }
});
