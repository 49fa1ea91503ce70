import { equal } from 'node:assert/strict';
import { refusedVerb, statusError } from '../../../../operator/kube/client/kube-error.ts';

/** Returns the sentence of RBAC about a right that an account lacks. */
function lacking(verb: string, resource: string): string {
  const user = 'User "system:serviceaccount:boxgate-system:boxgate"';
  return `${resource} "x" is forbidden: ${user} cannot ${verb} resource "${resource}" in API group "" in the namespace "a"`;
}

describe('verb that the API server refused', () => {
  const cases: readonly (readonly [string, number, string, string | undefined])[] = [
    ['a right on Secrets', 403, lacking('create', 'secrets'), 'create'],
    ['a right on something else', 403, lacking('create', 'services'), undefined],
    ['a quota', 403, 'secrets "x" is forbidden: exceeded quota: few, requested: count/secrets=1', undefined],
    ['an admission rule', 403, 'admission webhook "a.b" denied the request: cannot have it', undefined],
    ['another error with such a message', 422, lacking('create', 'secrets'), undefined],
  ];
  for (const [title, code, message, verb] of cases) {
    it(`is ${verb ?? 'undefined'} for ${title}`, () => {
      equal(refusedVerb(statusError({ kind: 'Status', code, message }), 'secrets'), verb);
    });
  }

  it('is read for Services too', () => {
    const error = statusError({ kind: 'Status', code: 403, message: lacking('patch', 'services') });
    equal(refusedVerb(error, 'services'), 'patch');
  });
});
