import { expect } from 'chai';
import { isObject } from '../../../../crds/path.ts';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { operatorNamespace, type TestOperator } from '../../../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';
import { findService, patchService, servicePath } from './found-service.ts';

const apiService = `boxgate-api.${operatorNamespace}.svc.cluster.local`;
const publicClient = { grant_types: ['implicit'], auth: { implicit: { redirect_uri: 'https://app.example.com/' } } };

describe('the Service of a box', () => {
  let rig: OperatorRig;
  let operator: TestOperator;
  before(async () => {
    rig = await startOperatorRig();
    rig.plane.startControllers(['namespace']);
    operator = await rig.operator({ BOXGATE_SWEEP_SECONDS: '1' });
  });
  after(() => rig.stop());

  /** Sum of the series of a metric whose labels contain a text. */
  async function sumOf(metric: string, label = ''): Promise<number> {
    const text = await (await fetch(`${operator.healthUrl}/metrics`)).text();
    const series = text.split('\n').filter((line) => line.startsWith(metric) && line.includes(label));
    return series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  const says = (kind: 'Box' | 'Client', box: string, name: string, wanted: string): Promise<void> =>
    eventually(`${name} says ${wanted}`, async () => (await rig.condition(kind, box, name, 'ServiceReady')) === wanted);
  const statusOf = async (kind: 'Box' | 'Client', box: string, name: string): Promise<Record<string, unknown>> => {
    const object = await rig.find(kind, box, name);
    return isObject(object?.['status']) ? object['status'] : {};
  };
  const message = async (kind: 'Box' | 'Client', box: string, name: string): Promise<string> => {
    const { conditions } = await statusOf(kind, box, name);
    const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
    return String(all.find(({ type }) => type === 'ServiceReady')?.['message']);
  };
  const newUid = (box: string, old: string | undefined): Promise<void> =>
    eventually(
      'another Service is there',
      async () => ![undefined, old].includes((await findService(rig.plane, box))?.uid),
    );

  async function boxWithService(): Promise<string> {
    const box = await rig.box();
    await rig.put('Box', box, 'box', {});
    await says('Box', box, 'box', 'True/ServiceCreated');
    return box;
  }

  it('is an alias of the API of the installation', async () => {
    const box = await boxWithService();
    const { labels, spec } = (await findService(rig.plane, box)) ?? {};
    expect(labels).to.deep.equal({ 'app.kubernetes.io/managed-by': 'boxgate' });
    expect(spec).to.include({ type: 'ExternalName', externalName: apiService }).and.not.have.property('clusterIP');
    expect(spec?.['ports']).to.deep.equal([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }]);
  });

  it('is the second address in the statuses, and in generated Secrets', async () => {
    const box = await boxWithService();
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'] });
    await rig.ready('Client', box, 'app');
    const addresses = {
      issuer: `${rig.api.url}/boxes/${box}`,
      inClusterTokenUrl: `http://boxgate.${box}.svc/auth/token`,
    };
    expect(await statusOf('Box', box, 'box')).to.include(addresses);
    expect(await statusOf('Client', box, 'app')).to.include(addresses);
    const { body } = await rig.plane.call({ path: `/api/v1/namespaces/${box}/secrets/app` });
    const data = isObject(body) && isObject(body['data']) ? body['data'] : {};
    const text = Buffer.from(String(data['in_cluster_token_url']), 'base64').toString();
    expect(text).to.equal(addresses.inClusterTokenUrl);
  });

  it('is created again when it was deleted by hand', async () => {
    const box = await boxWithService();
    const before = await findService(rig.plane, box);
    await rig.plane.call({ method: 'DELETE', path: servicePath(box) });
    await newUid(box, before?.uid);
  });

  const edits: Readonly<Record<string, object>> = {
    'another target': { spec: { externalName: 'elsewhere.example.com' } },
    'another type': { spec: { type: 'ClusterIP', externalName: null, ports: [{ port: 8080 }] } },
    'a selector': { spec: { selector: { app: 'mine' } } },
    'other ports': { spec: { ports: [{ name: 'http', port: 8080 }] } },
  };
  for (const [what, edit] of Object.entries(edits)) {
    it(`is as before after it was given ${what} by hand`, async () => {
      const box = await boxWithService();
      const before = await findService(rig.plane, box);
      await patchService(rig.plane, box, edit);
      await eventually('it is as before', async () => {
        const now = await findService(rig.plane, box);
        return now?.uid === before?.uid && JSON.stringify(now?.spec) === JSON.stringify(before?.spec);
      });
    });
  }

  it('is not touched if somebody else created it, and is created when that one is gone', async () => {
    const box = await rig.box();
    const foreign = { metadata: { name: 'boxgate' }, spec: { ports: [{ port: 80 }] } };
    await rig.plane.call({ method: 'POST', path: `/api/v1/namespaces/${box}/services`, body: foreign });
    const before = await findService(rig.plane, box);
    await rig.put('Box', box, 'box', {});
    await says('Box', box, 'box', 'False/ServiceNotOwned');
    await rig.ready('Box', box, 'box');
    expect(await message('Box', box, 'box')).to.contain(
      `http://boxgate-api.${operatorNamespace}.svc/boxes/${box}/auth/token`,
    );
    expect(await findService(rig.plane, box)).to.deep.equal(before);
    await rig.plane.call({ method: 'DELETE', path: servicePath(box) });
    await says('Box', box, 'box', 'True/ServiceCreated');
  });

  it('becomes the own one of whoever takes the label away', async () => {
    const box = await boxWithService();
    await patchService(rig.plane, box, { metadata: { labels: null }, spec: { externalName: 'mine.example.com' } });
    await says('Box', box, 'box', 'False/ServiceNotOwned');
    expect((await findService(rig.plane, box))?.spec).to.include({ externalName: 'mine.example.com' });
  });

  for (const kind of ['Box', 'Client'] as const) {
    it(`is asked for by a ${kind} with the command that grants the right, and comes without a restart`, async () => {
      const box = await rig.box({ secrets: false });
      const name = kind === 'Box' ? 'box' : 'app';
      await rig.put(kind, box, name, kind === 'Box' ? {} : publicClient);
      await says(kind, box, name, 'False/ServiceForbidden');
      await rig.ready(kind, box, name);
      const [, command = ''] = /(?:kubectl) (create rolebinding .*)$/.exec(await message(kind, box, name)) ?? [];
      await kubectl(rig.plane, ...command.split(' '));
      await says(kind, box, name, kind === 'Box' ? 'True/ServiceCreated' : 'undefined/undefined');
      expect((await findService(rig.plane, box))?.spec).to.include({ externalName: apiService });
    });
  }

  it('is not read again and again without the right, so that no metric counts refusals', async () => {
    const boxes = await Promise.all(['a', 'b', 'c', 'd'].map(() => rig.box({ secrets: false })));
    for (const box of boxes) await rig.put('Box', box, 'box', {});
    for (const box of boxes) await says('Box', box, 'box', 'False/ServiceForbidden');
    const refusals = (): Promise<number> => sumOf('boxgate_operator_kubernetes_requests_total', 'code="403"');
    const passes = (): Promise<number> => sumOf('boxgate_operator_pass_seconds_count');
    // Two sweeps that read all four again would be refused eight times. Boxes of other tests may be refused something
    // meanwhile: on a slow machine there is hardly a sweep without that.
    await eventually('two sweeps with few refusals', async () => {
      const [refused, passed] = [await refusals(), await passes()];
      await eventually('two sweeps', async () => (await passes()) > passed + 60);
      return (await refusals()) - refused < 3;
    });
    for (const box of boxes)
      expect(await rig.condition('Box', box, 'box', 'ServiceReady')).to.equal('False/ServiceForbidden');
  });

  it('is told of by the Box alone if there is one', async () => {
    const box = await rig.box({ secrets: false });
    await rig.put('Client', box, 'app', publicClient);
    await says('Client', box, 'app', 'False/ServiceForbidden');
    await rig.put('Box', box, 'box', {});
    await says('Box', box, 'box', 'False/ServiceForbidden');
    await says('Client', box, 'app', 'undefined/undefined');
  });

  it('stays when nothing is declared any more, and goes with its namespace', async () => {
    const box = await boxWithService();
    await rig.put('Client', box, 'app', publicClient);
    const before = await findService(rig.plane, box);
    await rig.remove('Client', box, 'app');
    await rig.remove('Box', box, 'box');
    await eventually('the Box is gone', async () => (await rig.find('Box', box, 'box')) === undefined);
    expect(await findService(rig.plane, box)).to.deep.equal(before);
    await rig.put('Client', box, 'late', publicClient);
    await rig.ready('Client', box, 'late');
    await rig.plane.call({ method: 'DELETE', path: `/api/v1/namespaces/${box}` });
    const isGone = async (): Promise<boolean> =>
      (await rig.plane.call({ path: `/api/v1/namespaces/${box}` })).status === 404;
    await eventually('the namespace is gone', isGone);
  });
});

describe('the Service of a box where the public port serves TLS', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator({ BOXGATE_PUBLIC_TLS: 'true', BOXGATE_SWEEP_SECONDS: '1' });
  });
  after(() => rig.stop());

  it('is not created: the statuses name that of the API', async () => {
    const box = await rig.box();
    await rig.put('Box', box, 'box', {});
    await rig.put('Client', box, 'app', publicClient);
    await rig.ready('Box', box, 'box');
    await rig.ready('Client', box, 'app');
    const url = `https://boxgate-api.${operatorNamespace}.svc/boxes/${box}/auth/token`;
    for (const [kind, name] of [
      ['Box', 'box'],
      ['Client', 'app'],
    ] as const) {
      const object = await rig.find(kind, box, name);
      expect(object?.['status']).to.include({ inClusterTokenUrl: url });
      expect(await rig.condition(kind, box, name, 'ServiceReady')).to.equal('undefined/undefined');
    }
    expect(await findService(rig.plane, box)).to.equal(undefined);
  });
});
