import { expect } from 'chai';
import { Secret } from '../../../api/client/secret.ts';
import type { DeclaredSecret } from '../../../operator/desired/declared.ts';
import { resolveSecret, type ResolvedSecret } from '../../../operator/secrets/resolve.ts';
import { rotationOf } from '../../../operator/secrets/rotation.ts';
import { STORED_FORMS } from '../../support/stored-forms.ts';
import type { SecretSource } from '../../../operator/secrets/resolve.ts';

const reference: SecretSource = { from: 'reference', name: 'app-secret', key: 'client_secret' };
const label = { 'boxgate.dev/client-secret': 'true' };

function secret(text: string, fields: Partial<DeclaredSecret> = {}): DeclaredSecret {
  return {
    namespace: 'default',
    name: 'app-secret',
    type: 'Opaque',
    labels: label,
    entries: new Map([['client_secret', new Secret(text)]]),
    ...fields,
  };
}

function resolved(found: DeclaredSecret | undefined, source = reference): ResolvedSecret {
  return resolveSecret(source, 'app', (name) => (name === 'app-secret' ? found : undefined), new Map());
}

describe('resolveSecret', () => {
  it('finds the entry that a secretRef names', () => {
    const found = resolved(secret('a good secret'));
    expect(found.state === 'ready' && found.value.reveal()).to.equal('a good secret');
  });

  const missing: [title: string, found: DeclaredSecret | undefined, reason: string, sentence: string][] = [
    ['there is no Secret', undefined, 'SecretNotFound', 'there is no Secret app-secret'],
    [
      'the Secret lacks the entry',
      secret('x', { entries: new Map() }),
      'SecretKeyNotFound',
      'Secret app-secret has no entry client_secret',
    ],
    [
      'P-10 the Secret lacks the label',
      secret('x', { labels: {} }),
      'SecretNotLabelled',
      'Secret app-secret must carry the label boxgate.dev/client-secret: "true"',
    ],
    [
      'P-10 the label says something else',
      secret('x', { labels: { 'boxgate.dev/client-secret': 'yes' } }),
      'SecretNotLabelled',
      'Secret app-secret must carry the label boxgate.dev/client-secret: "true"',
    ],
    [
      'P-10 the Secret is a ServiceAccount token',
      secret('x', { type: 'kubernetes.io/service-account-token' }),
      'SecretNotAllowed',
      'Secret app-secret is a ServiceAccount token',
    ],
    ['the value is empty', secret(''), 'SecretNotUsable', 'entry client_secret of Secret app-secret is empty'],
    [
      'the value ends with a line break',
      secret('canary\n'),
      'SecretNotUsable',
      'entry client_secret of Secret app-secret ends with a line break: write it without one (echo -n)',
    ],
    [
      'the value is no visible ASCII',
      secret('canäry'),
      'SecretNotUsable',
      'entry client_secret of Secret app-secret has characters beyond visible ASCII and blanks',
    ],
    [
      'the value is too long',
      secret('x'.repeat(1025)),
      'SecretNotUsable',
      'entry client_secret of Secret app-secret has more than 1024 characters',
    ],
    // E-12: the stored form of another system became the secret.
    ...Object.entries(STORED_FORMS).map(([what, text]): (typeof missing)[number] => [
      `the value is a hash ${what}`,
      secret(text),
      'SecretNotUsable',
      'entry client_secret of Secret app-secret is the stored form of another system, such as $2b$ or {SSHA}: put the secret itself there',
    ]),
    [
      'the value is a hash that costs a gigabyte',
      secret('$argon2id$v=19$m=1048576,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMg'),
      'SecretNotUsable',
      'entry client_secret of Secret app-secret is an argon2 hash that is not accepted: v=19, m at most 65536, t at most 5, p at most 4',
    ],
  ];
  for (const [title, found, reason, message] of missing) {
    it(`${title}: ${reason}`, () => {
      expect(resolved(found)).to.deep.equal({ state: 'missing', reason, message });
    });
  }

  describe('of a person is a password', () => {
    const password = { ...reference, isPassword: true } as const;
    const stateOf = (text: string) => resolved(secret(text), password).state;

    it('A-16 of up to 4096 bytes, whatever its letters are', () => {
      expect([stateOf('x'.repeat(4096)), stateOf('ü'.repeat(2048))]).to.deep.equal(['ready', 'ready']);
      expect([stateOf('x'.repeat(4097)), stateOf('ü'.repeat(2049))]).to.deep.equal(['missing', 'missing']);
    });

    it('without control characters', () => {
      expect([stateOf('a\tb'), stateOf('a b')]).to.deep.equal(['missing', 'ready']);
    });
  });

  it('takes a generated secret by the name of its Client', () => {
    const generated = new Map<string, ResolvedSecret>([['app', { state: 'ready', value: new Secret('bgs_x') }]]);
    const nothing = (): undefined => undefined;
    const shape = { template: undefined, labels: {}, annotations: {}, rotation: rotationOf({}) };
    const source: SecretSource = { from: 'generated', name: 'somewhere', ...shape };
    expect(resolveSecret(source, 'app', nothing, generated)).to.have.property('state', 'ready');
    expect(resolveSecret(source, 'other', nothing, generated)).to.include({ reason: 'SecretNotMade' });
  });

  it('has none where none is needed', () => {
    expect(resolved(undefined, { from: 'nowhere' })).to.deep.equal({ state: 'none' });
  });
});
