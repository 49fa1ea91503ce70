import { expect } from 'chai';
import { clientOf, ownership } from '../../../../operator/kube/secrets/body.ts';
import { storedSecret, type SecretContent } from '../../../../operator/kube/secrets/stored-secret.ts';
import { rotationOf } from '../../../../operator/secrets/rotation.ts';
import { secretFacts } from '../../../../operator/secrets/keeper.ts';
import type { SecretRequest } from '../../../../operator/secrets/keeper.ts';

const request: SecretRequest = {
  client: 'app',
  uid: 'uid-of-app',
  adopt: false,
  inherits: false,
  secret: 'app',
  grants: ['client_credentials'],
  template: undefined,
  labels: {},
  annotations: {},
  facts: secretFacts('app', 'https://auth.example.com/boxes/shop'),
  rotation: rotationOf({}),
  applied: undefined,
  hadGeneratedSecret: () => false,
  usage: undefined,
};

const client = { apiVersion: 'boxgate.dev/v1', kind: 'Client', name: 'app', uid: 'uid-of-app', controller: true };
const released = {
  labels: { 'app.kubernetes.io/managed-by': 'boxgate' },
  annotations: { 'boxgate.dev/client-id': 'app' },
};

function content(owners: readonly object[], more: object = {}): SecretContent {
  const names = { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1' };
  const stored = storedSecret({ metadata: { ...names, ownerReferences: owners, ...more }, type: 'Opaque' });
  return stored?.content ?? expect.fail('is no Secret');
}

describe('whose a Secret is that a Client is to have generated', () => {
  const cases: [title: string, secret: SecretContent, request: SecretRequest, expected: string][] = [
    ['its own', content([client]), request, 'ours'],
    ['its own, beside other owners', content([{ ...client, uid: 'x', controller: false }, client]), request, 'ours'],
    ['P-10 an earlier one’s of its name', content([{ ...client, uid: 'earlier' }]), request, 'refused'],
    [
      'P-10 an earlier one’s, though it is to adopt',
      content([{ ...client, uid: 'e' }]),
      { ...request, adopt: true },
      'refused',
    ],
    ['P-10 another Client’s', content([{ ...client, name: 'other', uid: 'other' }]), request, 'refused'],
    ['P-10 that of another kind', content([{ ...client, kind: 'Certificate' }]), request, 'refused'],
    ['P-10 a Client’s of another group', content([{ ...client, apiVersion: 'example.com/v1' }]), request, 'refused'],
    ['P-10 nobody’s', content([]), request, 'refused'],
    ['P-10 one that only names it as an owner beside', content([{ ...client, controller: false }]), request, 'refused'],
    ['a retained client’s, which it does not adopt', content([], released), request, 'refused'],
    ['a retained client’s, which it adopts', content([], released), { ...request, adopt: true }, 'released'],
    [
      'R-57: that of the earlier object whose row it inherits',
      content([{ ...client, uid: 'e' }], released),
      { ...request, inherits: true },
      'released',
    ],
    [
      'R-57: one that was restored without its owner',
      content([], released),
      { ...request, inherits: true },
      'released',
    ],
    [
      'R-57: P-10 an earlier one’s that is not marked as ours, though it inherits',
      content([{ ...client, uid: 'e' }]),
      { ...request, inherits: true },
      'refused',
    ],
    [
      'R-57: P-10 that of another Client, though it inherits',
      content([{ ...client, name: 'other', uid: 'e' }], released),
      { ...request, inherits: true },
      'refused',
    ],
    [
      'P-10 a retained client’s of another id, though it is to adopt',
      content([], { ...released, annotations: { 'boxgate.dev/client-id': 'other' } }),
      { ...request, adopt: true },
      'refused',
    ],
    [
      'P-10 one that people have made with our annotation, though it is to adopt',
      content([], { annotations: released.annotations }),
      { ...request, adopt: true },
      'refused',
    ],
  ];
  it('tells how a Secret that was generated and restored is taken over with its value', () => {
    // E-15: a restored namespace said that no Client had made the Secret, and to delete it, with the value of the apps.
    expect(ownership(content([], released), request))
      .to.have.property('refused')
      .that.contains('spec.adoption: IfUnowned');
    expect(ownership(content([]), request))
      .to.have.property('refused')
      .that.contains('was not generated');
  });

  for (const [title, secret, wanted, expected] of cases) {
    it(`${title}: ${expected}`, () => {
      const found = ownership(secret, wanted);
      expect(typeof found === 'string' ? found : 'refused').to.equal(expected);
    });
  }

  it('shows in its owner, not in a label or a name', () => {
    expect(clientOf(content([client], released))).to.equal('uid-of-app');
    expect(clientOf(content([], released))).to.equal(undefined);
  });
});
