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

describe('error of a refused change', () => {
  const down = 'Internal error occurred: failed calling webhook "a.b": failed to call webhook: connection refused';
  const rule = `clients.boxgate.dev "x" is forbidden: ValidatingAdmissionPolicy 'team' with binding 'team' denied request: no`;
  const denials: readonly (readonly [string, number, string])[] = [
    ['a webhook that is away', 500, down],
    ['a webhook that chose the status', 418, 'admission webhook "a.b" denied the request: no'],
    ['a policy that chose Unauthorized', 401, rule],
  ];
  for (const [title, code, message] of denials) {
    it(`is forbidden for ${title}`, () => {
      // E-06: a webhook that is away was taken for an API server that does not answer.
      equal(statusError({ kind: 'Status', code, message }).code, 'forbidden');
    });
  }

  it('names the fields of our object that break its schema, and not their values', () => {
    const message = 'Client.boxgate.dev "x" is invalid: spec.secret: Invalid value: "s3cret": too short';
    const details = { group: 'boxgate.dev', kind: 'Client', name: 'x', causes: [{ field: 'spec.secret', message }] };
    const error = statusError({ kind: 'Status', code: 422, reason: 'Invalid', message, details });
    equal(error.message, 'Client.boxgate.dev "x" is invalid: spec.secret');
  });
});
