import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { generateClientSecret } from '../../../../api/credentials/client-secret.ts';
import { isGeneratedSecret } from '../../../../crds/generated-secret-text.ts';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { annotate } from '../../desired/host-requests.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';
import { label, testSecrets, type FoundSecret, type TestSecrets } from './secret-things.ts';

const machine = { grant_types: ['client_credentials'] };
const referring = { ...machine, secretRef: { name: 'chosen', key: 'password' } };

describe('Secrets in a cluster', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
  });
  after(() => rig.stop());

  let box: string;
  let secrets: TestSecrets;
  beforeEach(async () => {
    box = await rig.box();
    secrets = testSecrets(rig.plane, box);
  });

  const put = (name: string, spec: object): Promise<void> => rig.put('Client', box, name, spec);
  const ready = (name: string): Promise<void> => rig.ready('Client', box, name);
  const uidOf = async (name: string): Promise<unknown> => {
    const object = await rig.find('Client', box, name);
    return isObject(object?.['metadata']) ? object['metadata']['uid'] : undefined;
  };
  const says = (name: string, reason: string): Promise<void> =>
    eventually(
      `${name} says ${reason}`,
      async () => (await rig.condition('Client', box, name, 'SecretReady')) === reason,
    );
  const message = async (name: string): Promise<string> => {
    const object = await rig.find('Client', box, name);
    const status = isObject(object?.['status']) ? object['status'] : {};
    const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
    return String(conditions.find(({ type }) => type === 'SecretReady')?.['message']);
  };
  const secretOf = async (name: string): Promise<FoundSecret> => {
    const found = await secrets.find(name);
    if (found === undefined) throw new Error(`no Secret ${name}`);
    return found;
  };
  const valueOf = async (name: string): Promise<string> => (await secretOf(name)).data['client_secret'] ?? '';
  const works = (id: string, secret: string): Promise<void> =>
    eventually(`the secret of ${id} works`, async () => (await rig.token(box, id, secret)) === 200);

  describe('generated', () => {
    it('is a Secret of our type that the Client owns, with everything an application has to know', async () => {
      await put('app', machine);
      await ready('app');
      const { type, labels, owners, data } = await secretOf('app');
      expect(type).to.equal('boxgate.dev/client-credentials');
      const url = `${rig.api.url}/boxes/${box}`;
      expect(data).to.deep.equal({
        client_id: 'app',
        client_secret: data['client_secret'],
        issuer: url,
        token_url: `${url}/auth/token`,
        in_cluster_token_url: `http://boxgate.${box}.svc/auth/token`,
        jwks_url: `${url}/.well-known/jwks.json`,
      });
      expect(isGeneratedSecret(data['client_secret'] ?? '')).to.equal(true);
      expect(labels).to.deep.equal({ ...label, 'app.kubernetes.io/managed-by': 'boxgate' });
      const owner = {
        apiVersion: 'boxgate.dev/v1',
        kind: 'Client',
        name: 'app',
        uid: await uidOf('app'),
        controller: true,
      };
      expect(owners).to.deep.equal([owner]);
      expect(await rig.token(box, 'app', await valueOf('app'))).to.equal(200);
    });

    it('fills in a template, carries labels and annotations, keeps what others wrote, and takes back what is no longer wanted', async () => {
      const generateSecret = {
        name: 'app-login',
        template: { DSN: 'https://{{client_id}}:{{client_secret}}@x', OLD: 'old' },
        labels: { team: 'shop', old: 'yes' },
        annotations: { 'example.com/note': 'n' },
      };
      await annotate(rig, box, { 'boxgate.dev/secret-metadata': 'team, old, example.com/note' });
      await put('app', { ...machine, generateSecret });
      await ready('app');
      const made = await secretOf('app-login');
      const secret = /https:\/\/app:(bgs_.{48})@x/.exec(made.data['DSN'] ?? '')?.[1] ?? '';
      expect(isGeneratedSecret(secret)).to.equal(true);
      expect(made.labels).to.include({ team: 'shop', old: 'yes' });
      expect(made.annotations).to.include({ 'example.com/note': 'n' });
      await secrets.patch('app-login', { stringData: { mine: 'kept' }, metadata: { labels: { theirs: 'kept' } } });
      await put('app', {
        ...machine,
        generateSecret: { name: 'app-login', template: { ID: '{{client_id}}' }, labels: { team: 'pay' } },
      });
      await eventually('it is rewritten', async () => (await secretOf('app-login')).data['ID'] === 'app');
      const { data, labels, annotations } = await secretOf('app-login');
      expect(data).to.deep.equal({ ID: 'app', client_secret: secret, mine: 'kept' });
      expect(labels).to.include({ team: 'pay', theirs: 'kept' }).and.not.have.property('old');
      expect(annotations).to.not.have.property('example.com/note');
      expect(await rig.token(box, 'app', secret)).to.equal(200);
    });

    it('is not taken over where it has another type', async () => {
      // E-02: a Secret of the type Opaque may be taken for another program's; a type cannot be changed.
      await put('app', machine);
      await ready('app');
      const { annotations, labels, owners, data } = await secretOf('app');
      await put('app', { ...machine, suspend: true });
      await says('app', 'Unknown/Suspended');
      await secrets.remove('app');
      await secrets.make('app', data, { metadata: { name: 'app', annotations, labels, ownerReferences: owners } });
      await put('app', machine);
      await says('app', 'False/SecretNotOwned');
      await secrets.remove('app');
      await ready('app');
      expect((await secretOf('app')).type).to.equal('boxgate.dev/client-credentials');
    });

    it('F-26 is created again when it was deleted by hand', async () => {
      await put('app', machine);
      await ready('app');
      const { uid } = await secretOf('app');
      const before = await valueOf('app');
      await secrets.remove('app');
      await eventually('it is there again', async () => ((await secrets.find('app'))?.uid ?? uid) !== uid);
      // First the old value, which works; the new one once the API knows it.
      await eventually('it works', async () => (await rig.token(box, 'app', await valueOf('app'))) === 200);
      await eventually('it has a new value', async () => (await valueOf('app')) !== before);
      expect(await rig.token(box, 'app', await valueOf('app'))).to.equal(200);
    });

    const broken: [title: string, data: Record<string, string | null>][] = [
      ['emptied', { client_secret: '' }],
      ['taken out', { client_secret: null }],
      ['broken', { client_secret: Buffer.from('bgs_half').toString('base64') }],
    ];
    for (const [title, data] of broken) {
      it(`F-26 has a new value where the old one was ${title} by hand`, async () => {
        await put('app', machine);
        await ready('app');
        const before = await valueOf('app');
        await secrets.patch('app', { data });
        await eventually('it has a new one', async () => {
          const value = await valueOf('app');
          return isGeneratedSecret(value) && value !== before;
        });
        expect(await rig.token(box, 'app', await valueOf('app'))).to.equal(200);
      });
    }

    it('P-10 never touches a Secret that is somebody else’s, and says so', async () => {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u-1', controller: true };
      await secrets.make('app', { a: 'theirs' });
      await secrets.make(
        'b-owned',
        { a: 'theirs' },
        { metadata: { name: 'b-owned', labels: label, ownerReferences: [owner] } },
      );
      await secrets.make('c-plain', { a: 'theirs' }, { metadata: { name: 'c-plain' } });
      const before = await Promise.all(['app', 'b-owned', 'c-plain'].map(secretOf));
      await put('app', machine);
      await put('b', { ...machine, generateSecret: { name: 'b-owned' } });
      await put('c', { ...machine, generateSecret: { name: 'c-plain' } });
      for (const name of ['app', 'b', 'c']) await says(name, 'False/SecretNotOwned');
      expect(await message('b')).to.contain('Secret b-owned belongs to ConfigMap other');
      expect(await Promise.all(['app', 'b-owned', 'c-plain'].map(secretOf))).to.deep.equal(before);
    });

    it('P-10 gives nobody the Secret of another Client, nor that of an earlier one of the same name', async () => {
      await put('app', { ...machine, generateSecret: { name: 'app-thief' } });
      await ready('app');
      await put('app-thief', machine);
      await says('app-thief', 'False/SecretNotOwned');
      expect(await message('app-thief')).to.contain('Secret app-thief belongs to Client app');
      const uid = 'd3b07384-0000-4000-8000-000000000000';
      const owner = { apiVersion: 'boxgate.dev/v1', kind: 'Client', name: 'again', uid, controller: true };
      await secrets.make(
        'again',
        { client_secret: 'x' },
        { metadata: { name: 'again', labels: label, ownerReferences: [owner] } },
      );
      await put('again', machine);
      await says('again', 'False/SecretNotOwned');
      expect(await message('again')).to.contain('belongs to an earlier Client again, which is gone');
      expect(await valueOf('again')).to.equal('x');
      // As garbage collection does.
      await secrets.remove('again');
      await ready('again');
    });

    it('goes with its Client, and when it is wanted under another name', async () => {
      await put('app', machine);
      await ready('app');
      await put('app', { ...machine, generateSecret: { name: 'app-renamed' } });
      await eventually('the old one is gone', async () => (await secrets.find('app')) === undefined);
      await rig.remove('Client', box, 'app');
      await eventually('the new one too', async () => (await secrets.find('app-renamed')) === undefined);
    });

    it('stays when its Client refers to it from then on, as an exported one does, and is generated again later', async () => {
      await put('app', machine);
      await ready('app');
      const value = await valueOf('app');
      await put('app', { ...machine, secretRef: { name: 'app', key: 'client_secret' } });
      await ready('app');
      expect(await valueOf('app')).to.equal(value);
      await works('app', value);
      // It may be replaced meanwhile: what it was then is valid no longer.
      await secrets.patch('app', { stringData: { client_secret: generateClientSecret() } });
      await eventually('the first one is refused', async () => (await rig.token(box, 'app', value)) === 401);
      const replaced = await valueOf('app');
      await put('app', machine);
      await ready('app');
      expect(await valueOf('app')).to.equal(replaced);
      await works('app', replaced);
      expect(await rig.token(box, 'app', value)).to.equal(401);
    });

    it('stays when its Client is retained, and is the adopter’s then', async () => {
      await put('app', { ...machine, deletionPolicy: 'Retain' });
      await ready('app');
      const before = await valueOf('app');
      await rig.remove('Client', box, 'app');
      await eventually('nobody owns it', async () => (await secretOf('app')).owners.length === 0);
      await eventually('it is gone', async () => (await rig.find('Client', box, 'app')) === undefined);
      expect(await rig.token(box, 'app', before)).to.equal(200);
      await put('app', machine);
      await says('app', 'False/SecretNotOwned');
      await put('app', { ...machine, adoption: 'IfUnowned' });
      await ready('app');
      expect(await valueOf('app')).to.equal(before);
      expect((await secretOf('app')).owners.map(({ uid }) => uid)).to.deep.equal([await uidOf('app')]);
    });

    it('carries nothing new while nothing changes', async () => {
      await put('app', machine);
      await ready('app');
      const before = await secretOf('app');
      await put('app', { ...machine, name: 'Another name' });
      await eventually('it is applied', async () => (await rig.condition('Client', box, 'app')) === 'True/Ready');
      await put('other', machine);
      await ready('other');
      expect(await secretOf('app')).to.deep.equal(before);
    });
  });

  describe('that clients refer to', () => {
    it('peer defect 8: are waited for, and none is invented; peer defect 6: an edit is live', async () => {
      await put('app', referring);
      await says('app', 'False/SecretNotFound');
      expect(await secrets.find('app')).to.equal(undefined);
      await secrets.make('chosen', { password: 'the first one' });
      await ready('app');
      expect(await rig.token(box, 'app', 'the first one')).to.equal(200);
      await secrets.patch('chosen', { stringData: { password: 'the second one' } });
      await works('app', 'the second one');
      expect(await rig.token(box, 'app', 'the first one')).to.equal(401);
    });

    it('F-26, P-10: say what is wrong with them, and the last good value works on', async () => {
      await secrets.make('chosen', { password: 'the good one' });
      await put('app', referring);
      await ready('app');
      const set = (text: string): Promise<void> =>
        secrets.patch('chosen', { data: { password: Buffer.from(text).toString('base64') } });
      const table: [title: string, change: () => Promise<void>, reason: string][] = [
        ['emptied', () => set(''), 'SecretNotUsable'],
        ['not ASCII', () => set('geheimnis-für-dich'), 'SecretNotUsable'],
        ['with a line break at its end', () => set('the good one\n'), 'SecretNotUsable'],
        ['huge', () => set('x'.repeat(700_000)), 'SecretNotUsable'],
        [
          'under another key',
          () => secrets.patch('chosen', { data: { password: null, other: 'eA==' } }),
          'SecretKeyNotFound',
        ],
        [
          'without the label',
          () => secrets.patch('chosen', { metadata: { labels: { 'boxgate.dev/client-secret': null } } }),
          'SecretNotLabelled',
        ],
        [
          'with another label',
          () => secrets.patch('chosen', { metadata: { labels: { 'boxgate.dev/client-secret': 'no' } } }),
          'SecretNotLabelled',
        ],
      ];
      for (const [title, change, reason] of table) {
        await change();
        await eventually(
          `a Secret ${title} is ${reason}`,
          async () => (await rig.condition('Client', box, 'app')) === `False/${reason}`,
          45_000,
        );
        expect(await rig.token(box, 'app', 'the good one'), title).to.equal(200);
      }
      await secrets.patch('chosen', { stringData: { password: 'a better one' }, metadata: { labels: label } });
      await ready('app');
      await secrets.remove('chosen');
      await says('app', 'False/SecretNotFound');
      expect(await rig.token(box, 'app', 'a better one')).to.equal(200);
      await secrets.make('chosen', { password: 'another good one' });
      await ready('app');
      expect(await rig.token(box, 'app', 'another good one')).to.equal(200);
      expect(await rig.token(box, 'app', 'the good one')).to.equal(401);
    });

    it('P-10, peer defect 14: are neither ServiceAccount tokens, nor unlabelled, nor in another namespace', async () => {
      const token = {
        metadata: { name: 'chosen', labels: label, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      };
      await rig.plane.call({
        method: 'POST',
        path: `/api/v1/namespaces/${box}/serviceaccounts`,
        body: { metadata: { name: 'default' } },
      });
      await secrets.make('chosen', { password: 'x' }, { ...token, type: 'kubernetes.io/service-account-token' });
      await secrets.make('unlabelled', { password: 'x' }, { metadata: { name: 'unlabelled' } });
      const other = testSecrets(rig.plane, await rig.box());
      await other.make('elsewhere', { password: 'x' });
      await put('token', referring);
      await put('hidden', { ...machine, secretRef: { name: 'unlabelled', key: 'password' } });
      await put('far', { ...machine, secretRef: { name: 'elsewhere', key: 'password' } });
      await says('token', 'False/SecretNotAllowed');
      await says('hidden', 'False/SecretNotLabelled');
      await says('far', 'False/SecretNotFound');
      for (const id of ['token', 'hidden', 'far']) expect(await rig.token(box, id, 'x')).to.equal(401);
    });
  });

  describe('without rights on them', () => {
    it('say the command that gives the rights, which heals them without a restart; other clients do not mind', async () => {
      box = await rig.box({ secrets: false });
      secrets = testSecrets(rig.plane, box);
      await put('app', machine);
      await put('keys', { ...machine, secret: 'an-inline-secret' });
      await put('referring', referring);
      await says('app', 'False/SecretForbidden');
      await says('referring', 'False/SecretForbidden');
      await ready('keys');
      const command = /kubectl (create rolebinding .*)$/.exec(await message('app'))?.[1] ?? '';
      expect(command).to.equal(
        `create rolebinding boxgate-box -n ${box} --clusterrole=boxgate-box --serviceaccount=boxgate-system:boxgate-operator`,
      );
      await kubectl(rig.plane, ...command.split(' '));
      await ready('app');
      expect(await rig.token(box, 'app', await valueOf('app'))).to.equal(200);
      await says('referring', 'False/SecretNotFound');
      await kubectl(rig.plane, '-n', box, 'delete', 'rolebinding', 'boxgate-box');
    });
  });
});
