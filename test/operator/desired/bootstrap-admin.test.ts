import { expect } from 'chai';
import type { NamespaceClaim } from '../../../api/client/desired-state.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { DeclaredSecret } from '../../../operator/desired/declared.ts';
import { addUser, newBrowser } from '../../http/pages/browser.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { declared, edited } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

const password = 'a long enough passphrase';
const label = { 'boxgate.dev/client-secret': 'true' };
const email = 'admin@shop.example';

function secretOf(text: string, labels: DeclaredSecret['labels'] = label): DeclaredSecret {
  return { namespace: 'x', name: 'first', type: 'Opaque', labels, entries: new Map([['password', new Secret(text)]]) };
}

const admin = { email, passwordSecretRef: { name: 'first', key: 'password' } };
const box = declared('Box', 'box', { bootstrap_admin: admin });
const app = declared('Client', 'app', {
  grant_types: ['implicit'],
  first_party: true,
  auth: { implicit: { redirect_uri: 'https://app.example/back' } },
});

describe('the bootstrap_admin of a Box', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  async function users(): Promise<readonly Record<string, unknown>[]> {
    const groups = `SELECT email, boxgate.groups_of(box, id) -> 0 ->> 'name' AS group FROM boxgate.user WHERE box = $1`;
    return ownerQuery(rig.api, `${groups} ORDER BY id`, [rig.box]);
  }

  async function signIn(word: string): Promise<number> {
    return (await newBrowser(rig.api, rig.box).submit('/auth/signin', { email, password: word })).status;
  }

  /** Status of a list of users with a token that the admin gets by signing in to an app. */
  async function administers(): Promise<number> {
    const browser = newBrowser(rig.api, rig.box);
    await browser.submit('/auth/signin', { email, password });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=app');
    const token = new URLSearchParams(location.split('#')[1]).get('access_token') ?? '';
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${rig.api.url}/boxes/${rig.box}/users`, { headers })).status;
  }

  it('is a user in the group admins, whom a policy allows everything', async () => {
    rig.source.secrets = [secretOf(password)];
    await rig.pass([box, app]);
    expect(rig.condition('Box/box')).to.equal('True/Ready');
    expect(rig.condition('Box/box', 'SecretReady')).to.equal('True/SecretFound');
    expect(await users()).to.deep.equal([{ email, group: 'admins' }]);
    const verified = await ownerQuery(rig.api, 'SELECT email_verified FROM boxgate.user WHERE box = $1', [rig.box]);
    expect(verified).to.deep.equal([{ email_verified: true }]);
    expect(await administers()).to.equal(200);
  });

  it('is made once: whoever removes it, or changes its password, is not undone', async () => {
    rig.source.secrets = [secretOf(password)];
    await rig.pass([box]);
    rig.source.secrets = [secretOf('another long passphrase')];
    await rig.pass([edited(box, { bootstrap_admin: admin, active: true })]);
    expect(await signIn(password)).to.equal(303);
    await ownerQuery(rig.api, 'DELETE FROM boxgate.user WHERE box = $1', [rig.box]);
    await rig.restart();
    await rig.pass([edited(box, { bootstrap_admin: admin, password: { min_length: 9 } })], 'everything');
    expect(await users()).to.deep.equal([]);
  });

  it('is another one when the Box names another email', async () => {
    rig.source.secrets = [secretOf(password)];
    await rig.pass([box]);
    await rig.pass([edited(box, { bootstrap_admin: { ...admin, email: 'second@shop.example' } })]);
    expect((await users()).map((one) => one['email'])).to.deep.equal([email, 'second@shop.example']);
  });

  it('P-16 is not made of a user who exists: their password and groups stay', async () => {
    await rig.pass([app]);
    await addUser(rig.api, 'ADMIN@shop.example', 'what they chose themselves', rig.box);
    rig.source.secrets = [secretOf(password)];
    await rig.pass([box, app]);
    expect(rig.condition('Box/box')).to.equal('True/Ready');
    expect(await users()).to.deep.equal([{ email: 'ADMIN@shop.example', group: null }]);
    expect([await signIn(password), await signIn('what they chose themselves')]).to.deep.equal([200, 303]);
  });

  const unready: readonly [what: string, secrets: readonly DeclaredSecret[], reason: string][] = [
    ['is not there', [], 'False/SecretNotFound'],
    ['has no label', [secretOf(password, {})], 'False/SecretNotLabelled'],
    ['ends with a line break', [secretOf(`${password}\n`)], 'False/SecretNotUsable'],
  ];
  for (const [what, secrets, reason] of unready) {
    it(`P-16 waits while its Secret ${what}, and the settings of the Box hold`, async () => {
      rig.source.secrets = secrets;
      await rig.pass([edited(box, { bootstrap_admin: admin, registration: { enabled: true } })]);
      expect(rig.condition('Box/box')).to.equal(reason);
      expect(await users()).to.deep.equal([]);
      expect((await newBrowser(rig.api, rig.box).get('/auth/signup')).status).to.equal(200);
      rig.source.secrets = [secretOf(password)];
      await rig.pass([edited(box, { bootstrap_admin: admin, registration: { enabled: true } })]);
      expect(rig.condition('Box/box')).to.equal('True/Ready');
      expect(await signIn(password)).to.equal(303);
    });
  }

  it('R-16 is not made with a password in the form that is stored', async () => {
    rig.source.secrets = [secretOf('$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo')];
    await rig.pass([box]);
    expect(rig.condition('Box/box')).to.equal('False/Invalid');
    expect(await users()).to.deep.equal([]);
  });

  it('is not made with a password that the box takes from nobody, and says so until there is another', async () => {
    rig.source.secrets = [secretOf('short')];
    await rig.pass([box]);
    expect(rig.condition('Box/box')).to.equal('False/Invalid');
    const said = rig.source.statuses.get('Box/box')?.conditions.find(({ type }) => type === 'Valid')?.message;
    expect(said).to.contain('spec.bootstrap_admin.passwordSecretRef').and.to.contain('at least 8 characters');
    await rig.restart();
    await rig.pass([box], 'everything');
    expect(rig.condition('Box/box')).to.equal('False/Invalid');
    rig.source.secrets = [secretOf('ein überlanges Passwort')];
    await rig.pass([box]);
    expect(rig.condition('Box/box')).to.equal('True/Ready');
    expect(await signIn('ein überlanges Passwort')).to.equal(303);
  });

  it('is created again in a namespace that was created again, whose admin discards what was there before', async () => {
    const { list } = rig.source;
    const passIn = async (claim: NamespaceClaim): Promise<void> => {
      rig.source.namespaceOf = () => Promise.resolve(claim);
      rig.source.list = async (name, signal) => {
        const hosts = { allowed: [], refused: [] };
        return { ...(await list(name, signal)), tenancy: { claim, isTerminating: false, hosts } };
      };
      await rig.pass([{ ...box, uid: `uid-in-${claim.uid}` }], 'everything');
      rig.source.list = list;
    };
    rig.source.secrets = [secretOf(password)];
    await passIn({ uid: 'one' });
    const [before] = await ownerQuery(rig.api, 'SELECT id FROM boxgate.user WHERE box = $1', [rig.box]);
    rig.source.secrets = [secretOf('another long passphrase')];
    await passIn({ uid: 'two' });
    expect([rig.condition('Box/box'), (await users()).length]).to.deep.equal(['False/NamespaceRecreated', 1]);
    await passIn({ uid: 'two', discard: 'one' });
    expect(rig.condition('Box/box')).to.equal('True/Ready');
    expect(await users()).to.deep.equal([{ email, group: 'admins' }]);
    const [after] = await ownerQuery(rig.api, 'SELECT id FROM boxgate.user WHERE box = $1', [rig.box]);
    expect(after).to.not.deep.equal(before);
    expect([await signIn(password), await signIn('another long passphrase')]).to.deep.equal([200, 303]);
  });

  it('leaves a policy and a group of those names as they are', async () => {
    const own = declared('AccessPolicy', 'admins', { engine: 'allow', link: [{ resourceType: 'Group', id: 'staff' }] });
    rig.source.secrets = [secretOf(password)];
    await rig.pass([box, app, own]);
    expect([rig.condition('Box/box'), rig.condition('AccessPolicy/admins')]).to.deep.equal([
      'True/Ready',
      'True/Ready',
    ]);
    expect(await administers()).to.equal(403);
  });
});
