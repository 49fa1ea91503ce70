import { expect } from 'chai';
import { stringify } from 'yaml';
import { ownerQuery } from '../support/owner-query.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { startDev } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';

describe('boxgate dev --databases', () => {
  const folder = temporaryFolder();
  let home: TestDatabase;
  let eu: TestDatabase;

  before(async () => {
    [home, eu] = [await freshDatabase(), await freshDatabase()];
  });
  after(async () => {
    folder.remove();
    await Promise.all([home.drop(), eu.drop()]);
  });

  const boxesOf = async (database: TestDatabase): Promise<readonly unknown[]> =>
    (await ownerQuery({ database }, 'SELECT box FROM boxgate.box ORDER BY box', [])).map(({ box }) => box);

  it('serves each box from the database that its Namespace names, and one that names none from the first', async () => {
    const databases = [
      { name: 'home', ownerUrl: home.ownerUrl, url: home.apiUrl },
      { name: 'eu-1', ownerUrl: eu.ownerUrl, url: eu.apiUrl },
    ];
    folder.write('several.yaml', stringify({ databases }));
    const annotations = { 'boxgate.dev/database': 'eu-1' };
    folder.write(
      'manifests/far.yaml',
      stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'far', annotations } }),
    );
    const secret = '  secret: a-chosen-secret\n';
    for (const box of ['near', 'far']) {
      folder.write(`manifests/${box}-app.yaml`, clientYaml('app', secret, box));
    }
    const { boxgate, url } = await startDev(folder.path('manifests'), ['--databases', folder.path('several.yaml')]);
    for (const box of ['near', 'far']) {
      const response = await fetch(`${url}/boxes/${box}/auth/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('app:a-chosen-secret')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      expect([box, response.status]).to.deep.equal([box, 200]);
    }
    expect(await boxgate.end('SIGTERM')).to.equal(0);
    expect([await boxesOf(home), await boxesOf(eu)]).to.deep.equal([['near'], ['far']]);
  });
});
