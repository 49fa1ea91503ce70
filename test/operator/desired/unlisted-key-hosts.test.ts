import { expect } from 'chai';
import { startApi, type TestApi } from '../../support/api.ts';
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts';
import { machineClient } from '../declare.ts';
import { passRig } from '../pass-rig.ts';

/** A pass over a real API, which alone knows the hosts that BOXGATE_JWKS_HOSTS lists. */
describe('C-12 a client whose jwks_uri is on a host that is not listed', () => {
  let database: TestDatabase;
  const running: TestApi[] = [];
  const listing = async (hosts: string): Promise<TestApi> => {
    const api = await startApi({ database, environment: { BOXGATE_JWKS_HOSTS: hosts } });
    running.push(api);
    return api;
  };

  before(async () => {
    database = await freshDatabase();
  });
  after(async () => {
    await Promise.all(running.map((api) => api.stop()));
    await database.drop();
  });

  const jwks_uri = 'https://keys.example.com/jwks.json';
  const alone = machineClient('alone', { jwks_uri });
  const beside = machineClient('beside', { jwks_uri, generateSecret: {} });

  it('says so in its status, and takes it back at the sweep after the host is listed', async () => {
    const [none, listed] = [await listing('other.example.com'), await listing('keys.example.com')];
    const refusing = await passRig(none, 'box');
    await refusing.pass([alone, beside], 'everything');
    expect(refusing.condition('Client/alone')).to.equal('False/JwksHostNotListed');
    expect(refusing.condition('Client/alone', 'Synced')).to.equal('True/Applied');
    expect(refusing.condition('Client/alone', 'Stalled')).to.equal(undefined);
    const conditions = refusing.source.statuses.get('Client/alone')?.conditions;
    expect(conditions?.find(({ type }) => type === 'SecretReady')?.message)
      .to.contain('spec.jwks_uri is on the host keys.example.com')
      .and.contain('BOXGATE_JWKS_HOSTS');
    expect(refusing.condition('Client/beside')).to.equal('True/Ready');
    expect(refusing.condition('Client/beside', 'NotInForce')).to.equal('True/JwksHostNotListed');
    expect(await refusing.token('beside')).to.equal(200);
    const before = await refusing.version();

    await refusing.pass([alone, beside], 'everything');
    expect(refusing.condition('Client/alone')).to.equal('False/JwksHostNotListed');

    const fetching = await passRig(listed, 'box', refusing);
    await fetching.pass([alone, beside], 'everything');
    expect(fetching.condition('Client/alone')).to.equal('True/Ready');
    expect(fetching.condition('Client/beside', 'NotInForce')).to.equal(undefined);
    expect(await fetching.version()).to.equal(before);
  });
});
