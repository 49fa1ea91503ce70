import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { isObject, type JsonObject } from '../../../crds/path.ts';
import type { BoxApi } from '../../http/resources/box-api.ts';
import { onAdminBoxctl, type Boxctl } from '../boxctl.ts';

describe('boxctl client', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ api, boxctl } = started));

  const shown = async (id: string): Promise<JsonObject> => {
    const { body } = await api.call('GET', `/Client/${id}`);
    return isObject(body) ? body : {};
  };

  describe('--generate-secret with --output table', () => {
    for (const line of ['client new orders --grant client_credentials', 'client set orders'])
      it(`${line} prints the secret above the table`, async () => {
        const { code, output } = await boxctl.run([...line.split(' '), '--generate-secret', '--output', 'table']);
        expect(code).to.equal(0);
        expect(output).to.match(/^bgs_\S+\nID +NAME +GRANTS.*\norders /);
        const [secret = ''] = output.split('\n');
        expect((await api.requestToken('orders', secret)).status).to.equal(200);
      });

    for (const format of ['json', 'yaml'])
      it(`prints no line of its own with --output ${format}`, async () => {
        const { output } = await boxctl.run(['client', 'set', 'orders', '--generate-secret', '--output', format]);
        expect(output.match(/bgs_/g)).to.have.length(1);
        expect(output).not.to.match(/^bgs_/);
      });
  });

  describe('--generate-secret of a refused command', () => {
    const refused = [
      'client new orders --grant client_credentials',
      'client new wrong --grant no_such_grant',
      'client new --grant client_credentials',
      'client set nobody',
      'client set orders --grant no_such_grant',
      'client set orders --active perhaps',
      'client set orders --box nobox',
    ];
    for (const line of refused)
      for (const format of ['', ' --output table', ' --output json'])
        it(`${line}${format} prints no secret`, async () => {
          // E-26: a secret that nothing has stored must not be printed.
          const { code, output } = await boxctl.run(`${line} --generate-secret${format}`.split(' '));
          expect({ isRefused: code === 1 || code === 2, output }).to.deep.equal({ isRefused: true, output: '' });
        });
  });

  it('prints warnings about what it has stored as messages', async () => {
    const ran = await boxctl.run(['policy', 'new', 'nobody', '--engine', 'allow']);
    expect(ran).to.deep.equal({
      code: 0,
      output: 'Created policy nobody in the box default.\n',
      messages: 'boxctl: warning: link is empty: the policy grants nobody\n',
    });
  });

  describe('--file with options', () => {
    const auth = {
      authorization_code: { pkce: true, secret_required: true, audience: ['https://api.example'] },
      client_credentials: { access_token_expiration: 600 },
    };
    const merged = {
      ...auth,
      authorization_code: { ...auth.authorization_code, redirect_uris: ['https://shop.example/back'] },
    };
    const redirect = ['--redirect-uri', 'https://shop.example/back'] as const;
    let file = '';
    before(() => {
      file = path.join(boxctl.home, 'client.json');
      const grants = ['authorization_code', 'client_credentials'];
      writeFileSync(file, JSON.stringify({ grant_types: grants, name: 'Shop', secret: 'a secret', auth }));
    });

    it('client new keeps every field of the file that no option names', async () => {
      const { code, messages } = await boxctl.run(['client', 'new', 'shop', '--file', file, ...redirect]);
      expect([code, messages]).to.deep.equal([0, '']);
      expect(await shown('shop')).to.deep.include({ name: 'Shop', auth: merged });
    });

    it('client set keeps every field of the file that no option names', async () => {
      await boxctl.run(['client', 'new', 'app', '--grant', 'authorization_code', ...redirect]);
      const { code, messages } = await boxctl.run([
        'client',
        'set',
        'app',
        '--file',
        file,
        '--name',
        'App',
        ...redirect,
      ]);
      expect([code, messages]).to.deep.equal([0, '']);
      expect(await shown('app')).to.deep.include({ name: 'App', auth: merged });
    });

    it('replaces a list of the file as a whole', async () => {
      const listed = { authorization_code: { redirect_uris: ['https://a.example/b', 'https://c.example/d'] } };
      const document = JSON.stringify({ grant_types: ['authorization_code'], auth: listed });
      await boxctl.run(['client', 'new', 'lists', '--file', '-', ...redirect], {}, document);
      expect(await shown('lists')).to.deep.include({
        auth: { authorization_code: { redirect_uris: ['https://shop.example/back'] } },
      });
    });
  });
});
