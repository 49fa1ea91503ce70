import { expect } from 'chai';
import { joinInstallation } from '../../api/db/core/installation.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { freshDatabase, homeOf } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { askToken, declareIn } from './placed-box.ts';

describe('a replica of several databases', () => {
  let home: TestDatabase;
  let eu: TestDatabase;
  let proxy: FaultProxy;
  let throughProxy: string;
  let first: TestApi;
  const replicas: TestApi[] = [];

  const settings = { BOXGATE_DATABASES: 'home,eu', BOXGATE_FAILURES_PER_CLIENT: '10000' };

  before(async () => {
    eu = await freshDatabase();
    home = await homeOf(eu);
    const url = new URL(eu.apiUrl);
    proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    throughProxy = url.href;
    first = await replica({ ...settings, BOXGATE_DATABASE_URL_EU: eu.apiUrl });
    expect(await declareIn(first, 'far', 'eu')).to.include({ database: 'eu' });
    expect(await declareIn(first, 'near', 'home')).to.include({ database: 'home' });
  });
  after(async () => {
    await Promise.all(replicas.map((one) => one.stop()));
    await proxy.close();
    await eu.drop();
  });
  afterEach(() => {
    proxy.isClosed = false;
  });

  async function replica(environment: Readonly<Record<string, string>>): Promise<TestApi> {
    const api = await startApi({ database: home, environment });
    replicas.push(api);
    return api;
  }

  async function readiness(api: TestApi): Promise<string> {
    const response = await fetch(`${api.managementUrl}/readyz?verbose`);
    return `${String(response.status)} ${await response.text()}`;
  }

  async function readyGauge(api: TestApi, name: string): Promise<string | undefined> {
    const page = await (await fetch(`${api.managementUrl}/metrics`)).text();
    return new RegExp(`^boxgate_database_ready\\{database="${name}"\\} (\\d)$`, 'm').exec(page)?.[1];
  }

  const allReady = '200 ok\ndatabase home: ok\ndatabase eu: ok';

  it('finds a box that another replica placed, for each of many first requests at once', async () => {
    const second = await replica({ ...settings, BOXGATE_DATABASE_URL_EU: eu.apiUrl });
    await declareIn(first, 'new', 'eu');
    const answers = await Promise.all(Array.from({ length: 20 }, () => askToken(second, 'new')));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array<number>(20).fill(200));
  });

  it('serves the others while a database is away at its start, says which, and serves that one when it comes', async () => {
    proxy.isClosed = true;
    const late = await replica({ ...settings, BOXGATE_DATABASE_URL_EU: throughProxy });
    const refused = await askToken(late, 'far');
    expect([refused.status, refused.headers.has('retry-after')]).to.deep.equal([503, true]);
    expect((await askToken(late, 'near')).status).to.equal(200);
    expect(await readiness(late)).to.match(/^200 ok\ndatabase home: ok\ndatabase eu: .*BOXGATE_DATABASE_URL_EU,/);
    expect([await readyGauge(late, 'home'), await readyGauge(late, 'eu')]).to.deep.equal(['1', '0']);
    proxy.isClosed = false;
    await eventually('the box is served', async () => (await askToken(late, 'far')).status === 200);
    expect(await readiness(late)).to.equal(allReady);
    expect(await readyGauge(late, 'eu')).to.equal('1');
  });

  it('fails the boxes of a database alone when it goes away', async () => {
    const one = await replica({ ...settings, BOXGATE_DATABASE_URL_EU: throughProxy });
    expect((await askToken(one, 'far')).status).to.equal(200);
    proxy.isClosed = true;
    proxy.cut();
    expect((await askToken(one, 'far')).status).to.equal(503);
    expect((await askToken(one, 'near')).status).to.equal(200);
    expect(await readiness(one)).to.match(/^200 ok\ndatabase home: ok\ndatabase eu: /);
    proxy.isClosed = false;
    await eventually('the box is served again', async () => (await askToken(one, 'far')).status === 200);
  });

  it('serves the boxes of other databases while home is away, and places no new one', async () => {
    const url = new URL(home.apiUrl);
    url.port = String(proxy.port);
    const one = await replica({
      ...settings,
      BOXGATE_DATABASE_URL: url.href,
      BOXGATE_DATABASE_URL_EU: eu.apiUrl,
      BOXGATE_DEFAULT_DATABASE: 'eu',
    });
    proxy.isClosed = true;
    proxy.cut();
    expect((await askToken(one, 'far')).status).to.equal(200);
    for (const box of ['near', 'unknown']) expect([box, (await askToken(one, box)).status]).to.deep.equal([box, 503]);
    expect(await readiness(one)).to.match(/^200 ok\ndatabase home: .*BOXGATE_DATABASE_URL,.*\ndatabase eu: ok$/);
    proxy.isClosed = false;
    await eventually('home is served again', async () => (await askToken(one, 'near')).status === 200);
    expect((await askToken(one, 'unknown')).status).to.equal(404);
  });

  it('waits for boxgate migrate to enter a database', async () => {
    const us = await freshDatabase();
    const early = await replica({
      ...{ ...settings, BOXGATE_DATABASES: 'home,eu,us' },
      ...{ BOXGATE_DATABASE_URL_EU: eu.apiUrl, BOXGATE_DATABASE_URL_US: us.apiUrl },
    });
    expect(await declareIn(early, 'west', 'us')).to.include({ code: 'unavailable' });
    expect(await readiness(early)).to.match(/\ndatabase us: The database us is not entered yet: run boxgate migrate$/);
    await joinInstallation([
      { name: 'home', ownerUrl: home.ownerUrl },
      { name: 'us', ownerUrl: us.ownerUrl },
    ]);
    await eventually('the box is placed', async () => {
      return Reflect.get(Object(await declareIn(early, 'west', 'us')), 'database') === 'us';
    });
    expect((await askToken(early, 'west')).status).to.equal(200);
    replicas.splice(replicas.indexOf(early), 1);
    await early.stop();
    await us.drop();
  });

  it('refuses another database under the name of one, and never writes to it', async () => {
    const other = await freshDatabase();
    const wrong = await replica({ ...settings, BOXGATE_DATABASE_URL_EU: other.apiUrl });
    expect((await askToken(wrong, 'far')).status).to.equal(503);
    expect(await readiness(wrong)).to.contain('is not the one that boxgate migrate entered under this name');
    expect(await declareIn(wrong, 'far', 'eu')).to.include({ code: 'unavailable' });
    expect(await ownerQuery({ database: other }, 'SELECT box FROM boxgate.box', [])).to.deep.equal([]);
    replicas.splice(replicas.indexOf(wrong), 1);
    await wrong.stop();
    await other.drop();
  });

  it('keeps a box whose database left the settings where it is: 503 DatabaseUnknown, also for its declarations', async () => {
    const less = await replica({ BOXGATE_DATABASES: 'home' });
    const refused = await askToken(less, 'far');
    expect([refused.status, refused.headers.has('retry-after')]).to.deep.equal([503, true]);
    const answer = await declareIn(less, 'far');
    expect(answer).to.include({ code: 'unavailable' });
    expect(JSON.stringify(answer)).to.contain('DatabaseUnknown');
    const boxes = await ownerQuery({ database: home }, `SELECT box FROM boxgate.box WHERE box = 'far'`, []);
    expect(boxes).to.deep.equal([]);
    expect((await askToken(less, 'near')).status).to.equal(200);
  });
});
