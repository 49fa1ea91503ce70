import { expect } from 'chai';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Secret } from '../../../api/client/secret.ts';
import { isGeneratedSecret } from '../../../crds/generated-secret-text.ts';
import { secretFacts } from '../../../operator/secrets/keeper.ts';
import { rotationOf } from '../../../operator/secrets/rotation.ts';
import type { SecretRequest } from '../../../operator/secrets/keeper.ts';
import { createSecretFiles, type SecretFiles } from '../../../dev/folder/generated-secrets.ts';
import { temporaryFolder, type TemporaryFolder } from '../temporary-folder.ts';

const signal = new AbortController().signal;
const time = Date.UTC(2026, 0, 1);
const now = (): Date => new Date(time);

function request(client: string, fields: Partial<SecretRequest> = {}): SecretRequest {
  return {
    client,
    uid: `default/${client}`,
    adopt: false,
    inherits: false,
    secret: client,
    grants: ['client_credentials'],
    template: undefined,
    labels: {},
    annotations: {},
    rotation: rotationOf({}),
    applied: undefined,
    hadGeneratedSecret: () => false,
    usage: undefined,
    facts: secretFacts(client, 'http://127.0.0.1:8080/boxes/default'),
    ...fields,
  };
}

describe('createSecretFiles', () => {
  let folder: TemporaryFolder;
  let files: SecretFiles;

  beforeEach(() => {
    folder = temporaryFolder();
    files = createSecretFiles(folder.root, now);
  });
  afterEach(() => folder.remove());

  async function secretOf(one: SecretRequest, keeper = files, box = 'default'): Promise<string> {
    const found = (await keeper.keep(box, [one], signal)).get(one.client);
    if (found?.state !== 'ready') throw new Error(found?.state === 'missing' ? found.message : 'nothing');
    return found.value.reveal();
  }
  const namesIn = async (keeper: SecretFiles, box: string): Promise<string[]> =>
    (await keeper.names(box, signal)).map(({ name }) => name);
  const file = () => folder.path('default', 'app.json');
  const content = (): unknown => JSON.parse(readFileSync(file(), 'utf8'));

  it('writes a file that is the body of a token request and tells the addresses', async () => {
    const secret = await secretOf(request('app'));
    expect(isGeneratedSecret(secret)).to.equal(true);
    expect(content()).to.deep.equal({
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: secret,
      issuer: 'http://127.0.0.1:8080/boxes/default',
      token_url: 'http://127.0.0.1:8080/boxes/default/auth/token',
      in_cluster_token_url: 'http://127.0.0.1:8080/boxes/default/auth/token',
      jwks_url: 'http://127.0.0.1:8080/boxes/default/.well-known/jwks.json',
    });
    expect(files.tokenRequest('default', 'app')).to.equal(file());
  });

  it('lets nobody else read it, however it was before', async () => {
    await secretOf(request('app'));
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(statSync(folder.path('default')).mode & 0o777).to.equal(0o700);
    folder.remove('default/app.json');
    writeFileSync(file(), '{}', { mode: 0o644 });
    await secretOf(request('app'), createSecretFiles(folder.root, now));
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
  });

  it('finds the same secret again in the next run', async () => {
    const secret = await secretOf(request('app'));
    expect(await secretOf(request('app'), createSecretFiles(folder.root, now))).to.equal(secret);
  });

  it('keeps the secret when the addresses change', async () => {
    const secret = await secretOf(request('app'));
    const moved = request('app', { facts: secretFacts('app', 'http://127.0.0.1:9/boxes/default') });
    expect(await secretOf(moved)).to.equal(secret);
    expect(content()).to.include({ client_secret: secret, issuer: 'http://127.0.0.1:9/boxes/default' });
    expect(await secretOf(request('app'), createSecretFiles(folder.root, now))).to.equal(secret);
    expect(content()).to.include({ issuer: 'http://127.0.0.1:8080/boxes/default' });
  });

  it('writes only what differs', async () => {
    await secretOf(request('app'));
    const before = statSync(file()).ino;
    await secretOf(request('app'));
    await secretOf(request('app'), createSecretFiles(folder.root, now));
    expect(statSync(file()).ino).to.equal(before);
  });

  it('puts the old secret back when the file was deleted by hand, and shows another once that is applied', async () => {
    const secret = await secretOf(request('app'));
    folder.remove('default/app.json');
    const next = await secretOf(request('app'));
    expect(next).to.not.equal(secret);
    expect(content()).to.include({ client_secret: secret });
    await secretOf(request('app', { applied: new Secret(next) }));
    expect(content()).to.include({ client_secret: next });
  });

  for (const damaged of [
    '',
    '{"client_secret": "bgs_',
    '{"client_secret": "bgs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}',
    'not json',
  ]) {
    it(`makes another secret where a kill or a hand has left ${JSON.stringify(damaged)}`, async () => {
      folder.write('default/app.json', damaged);
      expect(isGeneratedSecret(await secretOf(request('app')))).to.equal(true);
      expect(content()).to.include({ client_id: 'app' });
    });
  }

  it('fills in a template, and finds the secret again in it', async () => {
    const template = { OIDC_ID: '{{client_id}}', OIDC: 'id={{client_id}};secret={{client_secret}}' };
    const secret = await secretOf(request('app', { template }));
    expect(content()).to.deep.equal({ OIDC_ID: 'app', OIDC: `id=app;secret=${secret}` });
    expect(await secretOf(request('app', { template }), createSecretFiles(folder.root, now))).to.equal(secret);
    expect(files.tokenRequest('default', 'app')).to.equal(undefined);
  });

  it('is no token request for a client without that grant', async () => {
    await secretOf(request('app', { grants: ['authorization_code'] }));
    expect(content()).to.not.have.property('grant_type');
    expect(files.tokenRequest('default', 'app')).to.equal(undefined);
  });

  it('P-10 gives nobody the secret of another client', async () => {
    const found = await files.keep('default', [request('app'), request('thief', { secret: 'app' })], signal);
    expect(found.get('app')).to.have.property('state', 'ready');
    expect(found.get('thief')).to.deep.equal({
      state: 'missing',
      reason: 'SecretNotOwned',
      message: 'Secret app belongs to Client app; give generateSecret.name another one',
    });
  });

  it('keeps boxes apart', async () => {
    expect(await secretOf(request('app'), files, 'a')).to.not.equal(await secretOf(request('app'), files, 'b'));
    expect(await namesIn(files, 'a')).to.deep.equal(['app']);
  });

  it('forgets a secret for good', async () => {
    const secret = await secretOf(request('app'));
    await files.forget('default', [{ name: 'app' }, { name: 'never-there' }], signal);
    expect(await namesIn(files, 'default')).to.deep.equal([]);
    expect(await secretOf(request('app'))).to.not.equal(secret);
    expect(await namesIn(files, 'nowhere')).to.deep.equal([]);
  });

  it('ends with the reason of the signal when it is told to stop in the middle', async () => {
    const stopping = AbortSignal.abort(new Error('enough'));
    const many = Array.from({ length: 5_000 }, (_, nth) => request(`c${String(nth)}`));
    const error: unknown = await files.keep('default', many, stopping).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect((await files.names('default', signal)).length).to.be.lessThan(5_000);
  });

  it('lets go of a secret whose client is retained, which stays as it is, and finds it when it is adopted', async () => {
    const secret = await secretOf(request('app'));
    await files.release('default', [{ name: 'app' }], signal);
    const later = createSecretFiles(folder.root, now);
    expect(await namesIn(later, 'default')).to.deep.equal([]);
    expect(content()).to.include({ client_secret: secret });
    expect(await secretOf(request('app'), later)).to.equal(secret);
    expect(await namesIn(later, 'default')).to.deep.equal([]);
    expect(await secretOf(request('app', { adopt: true }), later)).to.equal(secret);
    expect(await namesIn(later, 'default')).to.deep.equal(['app']);
  });
});
