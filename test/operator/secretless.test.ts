import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isObject } from '../../crds/path.ts';
import { kubectl } from '../support/cluster/install-crds.ts';
import { startOperatorRig, type OperatorRig } from './operator-rig.ts';

const example = 'examples/kubernetes/secretless';

interface Ended {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

describe('examples/kubernetes/secretless', () => {
  let rig: OperatorRig;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-secretless-'));
    rig = await startOperatorRig();
    await rig.operator();
    await kubectl(rig.plane, 'apply', '-k', example);
    await rig.ready('Client', 'bakery', 'ovens');
    await rig.ready('AccessPolicy', 'bakery', 'ovens-read-sessions');
  });
  after(async () => {
    await rig.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The public URL of a test API is another one than the address at which it answers here. */
  const issuer = 'http://boxgate.test/boxes/bakery';
  const baseUrl = (): string => `${rig.api.url}/boxes/bakery`;

  /** Creates the file that the kubelet projects into a pod (TokenRequest API); returns its path. */
  async function projected(serviceAccount: string, audience = issuer): Promise<string> {
    const { status, body } = await rig.plane.call({
      method: 'POST',
      path: `/api/v1/namespaces/bakery/serviceaccounts/${serviceAccount}/token`,
      body: { spec: { audiences: [audience], expirationSeconds: 3600 } },
    });
    const answer = isObject(body) && isObject(body['status']) ? body['status'] : {};
    expect(status).to.equal(201);
    const file = path.join(folder, `${serviceAccount}-${String(audience.length)}`);
    writeFileSync(file, String(answer['token']), { mode: 0o600 });
    return file;
  }

  it('shows the issuer by the command that its kustomization names', async () => {
    const comments = readFileSync(path.join(example, 'kustomization.yaml'), 'utf8');
    const [, options = '', output = ''] = /^# {3}kubectl (get client .*) --output '(.*)'$/m.exec(comments) ?? [];
    expect(await kubectl(rig.plane, ...options.split(' '), '--output', output)).to.equal(baseUrl());
  });

  function run(program: string, file: string, tokenFile: string): Promise<Ended> {
    const env = {
      PATH: process.env['PATH'],
      BOX_URL: baseUrl(),
      CLIENT_ID: 'ovens',
      SERVICE_ACCOUNT_TOKEN: tokenFile,
    };
    return new Promise((resolve) => {
      execFile(program, [`${example}/${file}`], { env, timeout: 60_000 }, (error, printed, said) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), printed, said });
      });
    });
  }

  for (const [program, file] of [
    ['sh', 'get-token.sh'],
    ['node', 'get-token.mjs'],
  ] as const) {
    it(`exchanges the ServiceAccount token of a pod for a token of the box, by ${file}`, async () => {
      const ended = await run(program, file, await projected('ovens'));
      expect(ended).to.deep.equal({ code: 0, printed: 'GET /Session 200\n', said: '' });
    });

    it(`fails for the token of another ServiceAccount, or for another audience, by ${file}`, async () => {
      const account = { metadata: { name: 'kiosk' } };
      await rig.plane.call({ method: 'POST', path: '/api/v1/namespaces/bakery/serviceaccounts', body: account });
      for (const tokenFile of [await projected('kiosk'), await projected('ovens', 'https://elsewhere.example.com')]) {
        const ended = await run(program, file, tokenFile);
        expect(ended.code).not.to.equal(0);
        expect(ended.said).to.contain('no token: ').and.to.contain('invalid_client');
        expect(ended.said + ended.printed).not.to.contain(readFileSync(tokenFile, 'utf8'));
      }
    });
  }

  it('needs no Secret in its namespace', async () => {
    const { body } = await rig.plane.call({ path: '/api/v1/namespaces/bakery/secrets' });
    expect(isObject(body) ? body['items'] : undefined).to.deep.equal([]);
  });

  it('mounts a token whose audience is the issuer that its containers call', () => {
    const documents = parseAllDocuments(readFileSync(`${example}/app.yaml`, 'utf8'));
    const text = documents.map((document) => JSON.stringify(document)).join('\n');
    const url = 'http://boxgate-api.boxgate-system.svc/boxes/bakery';
    expect(text.split(`"audience":"${url}"`)).to.have.length(2);
    expect(text.split(`{"name":"BOX_URL","value":"${url}"}`)).to.have.length(3);
  });
});
