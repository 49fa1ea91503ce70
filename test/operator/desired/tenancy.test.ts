import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { request } from 'node:http';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('what Namespaces decide', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
  });
  after(() => rig.stop());

  async function annotate(box: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const path = `/api/v1/namespaces/${box}`;
    const body = { metadata: { annotations } };
    await rig.plane.call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  }

  /** The issuer that the metadata under a host name, or 404. */
  function issuerAt(host: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(`${rig.api.url}/.well-known/oauth-authorization-server`, { headers: { Host: host } });
      asked.on('error', reject).on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => {
          const body: unknown = answer.statusCode === 200 ? JSON.parse(text) : {};
          resolve(isObject(body) && answer.statusCode === 200 ? String(body['issuer']) : String(answer.statusCode));
        });
      });
      asked.end();
    });
  }

  const leadsTo = (host: string, box: string): Promise<void> =>
    eventually(`${host} leads to ${box}`, async () => (await issuerAt(host)).endsWith(`/boxes/${box}`));
  const leadsNowhere = (host: string): Promise<void> =>
    eventually(`${host} leads nowhere`, async () => (await issuerAt(host)) === '404');
  const says = (box: string, expected: string, type?: string): Promise<void> =>
    eventually(`the Box of ${box} says ${expected}`, async () => {
      return (await rig.condition('Box', box, 'box', type)) === expected;
    });

  it('P-14: what a namespace leaves behind is locked for the next one of its name, until an admin decides', async () => {
    rig.plane.startControllers(['namespace']);
    const path = (box: string): string => `/api/v1/namespaces/${box}`;
    const uidOf = async (box: string): Promise<string> => {
      const { body } = await rig.plane.call({ path: path(box) });
      return isObject(body) && isObject(body['metadata']) ? String(body['metadata']['uid']) : '';
    };
    for (const word of ['adopt', 'discard']) {
      const box = await rig.box();
      const kept = { grant_types: ['client_credentials'], secret: 's3cret', deletionPolicy: 'Retain' };
      await rig.put('Client', box, 'kept', kept);
      await rig.ready('Client', box, 'kept');
      const old = await uidOf(box);
      await rig.plane.call({ method: 'DELETE', path: path(box) });
      await eventually('it is gone', async () => (await rig.plane.call({ path: path(box) })).status === 404, 60_000);
      await eventually('it is out of service', async () => (await rig.token(box, 'kept', 's3cret')) === 404);
      await rig.plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: box } } });
      await rig.put('Client', box, 'stranger', { grant_types: ['client_credentials'], secret: 's3cret' });
      const said = (): Promise<string> => rig.condition('Client', box, 'stranger');
      await eventually('it is locked', async () => (await said()) === 'False/NamespaceRecreated');
      const text = JSON.stringify((await rig.find('Client', box, 'stranger'))?.['status']);
      expect(text).to.contain(`boxgate.dev/adopt-uid=${old}`).and.to.contain(`boxgate.dev/discard-uid=${old}`);
      expect(await rig.token(box, 'kept', 's3cret')).not.to.equal(200);
      await annotate(box, { [`boxgate.dev/${word}-uid`]: old });
      await rig.ready('Client', box, 'stranger');
      expect(await rig.token(box, 'kept', 's3cret')).to.equal(word === 'adopt' ? 200 : 401);
    }
  });

  it('P-12: a host counts as long as the Namespace grants it, and at once', async () => {
    const box = await rig.box();
    await rig.put('Box', box, 'box', { hosts: ['shop.test'] });
    await says(box, 'False/HostNotGranted');
    expect(await rig.condition('Box', box, 'box', 'Synced')).to.equal('True/Applied');
    expect(await issuerAt('shop.test')).to.equal('404');
    await annotate(box, { 'boxgate.dev/hosts': 'other.test, shop.test' });
    await says(box, 'True/Ready');
    await leadsTo('shop.test', box);
    await annotate(box, { 'boxgate.dev/hosts': null });
    await leadsNowhere('shop.test');
    await says(box, 'False/HostNotGranted');
  });

  it('P-12: a Namespace that grants more hosts than one call may have keeps no other box from its own', async () => {
    const [many, other] = [await rig.box(), await rig.box()];
    const hosts = Array.from({ length: 10_001 }, (_, nth) => `h${String(nth)}.test`);
    await annotate(many, { 'boxgate.dev/hosts': hosts.join(',') });
    await rig.put('Box', many, 'box', { hosts: ['h10000.test'] });
    await annotate(other, { 'boxgate.dev/hosts': 'calm.test' });
    await rig.put('Box', other, 'box', { hosts: ['calm.test'] });
    await leadsTo('calm.test', other);
    await leadsTo('h10000.test', many);
  });

  it('P-12: of two Boxes that claim a host the older one has it, and the other one after it', async () => {
    const [older, younger] = [await rig.box(), await rig.box()];
    for (const box of [older, younger]) await annotate(box, { 'boxgate.dev/hosts': 'both.test' });
    await rig.put('Box', older, 'box', { hosts: ['both.test'] });
    await rig.ready('Box', older, 'box');
    // Ages of objects are told in whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await rig.put('Box', younger, 'box', { hosts: ['both.test'] });
    await says(younger, 'False/HostConflict');
    await leadsTo('both.test', older);
    const box = await rig.find('Box', younger, 'box');
    expect(JSON.stringify(box?.['status'])).not.to.contain(older);
    await rig.remove('Box', older, 'box');
    await says(younger, 'True/Ready');
    await leadsTo('both.test', younger);
  });

  it('P-12: an issuer on a host that is not granted does not reach the API', async () => {
    const box = await rig.box();
    await annotate(box, { 'boxgate.dev/hosts': 'mine.test' });
    await rig.put('Box', box, 'box', { hosts: ['mine.test'], issuer: 'https://theirs.test' });
    await says(box, 'False/HostNotGranted');
    await leadsTo('mine.test', box);
    await rig.put('Box', box, 'box', { hosts: ['mine.test'], issuer: 'https://mine.test' });
    await says(box, 'True/Ready');
    await eventually('it is the issuer', async () => (await issuerAt('mine.test')) === 'https://mine.test');
  });

  it('R-53 a quota on a Namespace holds at once, and the youngest object beyond it says QuotaExceeded', async () => {
    const box = await rig.box();
    const spec = { grant_types: ['client_credentials'], secret: 's3cret' };
    await annotate(box, { 'boxgate.dev/quota': 'clients=1' });
    await rig.put('Client', box, 'first', spec);
    await rig.ready('Client', box, 'first');
    await rig.put('Client', box, 'second', spec);
    const says = (expected: string): Promise<void> =>
      eventually(`the second client says ${expected}`, async () => {
        return (await rig.condition('Client', box, 'second')) === expected;
      });
    await says('False/QuotaExceeded');
    await annotate(box, { 'boxgate.dev/quota': 'clients=2' });
    await says('True/Ready');
  });
});
