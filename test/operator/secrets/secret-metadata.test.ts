import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { validate } from '../../../operator/desired/validate.ts';
import { permittedMetadata, annotationEntries } from '../../../operator/desired/candidates.ts';
import { eventually } from '../../support/eventually.ts';
import { machineClient } from '../declare.ts';
import { annotate } from '../desired/host-requests.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('permittedMetadata', () => {
  const cases: readonly (readonly [granted: string, key: string, isPermitted: boolean])[] = [
    // E-02: a key without a domain was always permitted, and is an order to Helm, Terraform or Grafana.
    ['', 'owner', false],
    ['', 'tfstate', false],
    ['', 'grafana_datasource', false],
    ['team', 'team', true],
    ['team', 'teams', false],
    ['', 'example.com/team', false],
    ['other.io/a, example.com/team', 'example.com/team', true],
    ['example.com/team', 'example.com/teams', false],
    ['example.com/*', 'example.com/team', false],
    ['*', 'team', false],
  ];
  for (const [granted, key, isPermitted] of cases) {
    it(`R-19 "${granted}" ${isPermitted ? 'permits' : 'does not permit'} ${key}`, () => {
      for (const map of ['labels', 'annotations'] as const) {
        const validated = validate(machineClient('app', { generateSecret: { [map]: { [key]: 'x' } } }));
        const permitted = permittedMetadata(validated, annotationEntries(granted));
        expect(permitted.notPermitted).to.deep.equal(isPermitted ? undefined : [key]);
        expect(permitted.secret).to.deep.include({ [map]: isPermitted ? { [key]: 'x' } : {} });
      }
    });
  }
});

describe('R-19 labels and annotations of a generated Secret', () => {
  let rig: OperatorRig;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
    box = await rig.box();
  });
  after(() => rig.stop());

  const spec = (generateSecret: object) => ({ grant_types: ['client_credentials'], generateSecret });

  async function metadata(): Promise<{ readonly labels: object; readonly annotations: object }> {
    const { body } = await rig.plane.call({ path: `/api/v1/namespaces/${box}/secrets/app` });
    const found = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
    const part = (name: string): object => (isObject(found[name]) ? found[name] : {});
    return { labels: part('labels'), annotations: part('annotations') };
  }

  it('are in force as long as the Namespace permits their exact keys', async () => {
    const order = 'argocd.argoproj.io/secret-type';
    const wanted = { labels: { team: 'shop', [order]: 'cluster' }, annotations: { 'example.com/note': 'n' } };
    await annotate(rig, box, { 'boxgate.dev/secret-metadata': 'team' });
    await rig.put('Client', box, 'app', spec(wanted));
    await rig.ready('Client', box, 'app');
    expect(await rig.condition('Client', box, 'app', 'NotInForce')).to.equal('True/MetadataNotPermitted');
    const status = JSON.stringify((await rig.find('Client', box, 'app'))?.['status']);
    expect(status)
      .to.contain(`kubectl annotate --overwrite namespace ${box} `)
      .and.contain(` ${order} example.com/note`);
    expect((await metadata()).labels)
      .to.include({ team: 'shop' })
      .and.not.to.have.property(order);
    expect((await metadata()).annotations).not.to.have.property('example.com/note');

    await annotate(rig, box, { 'boxgate.dev/secret-metadata': `team ${order}, example.com/note` });
    await eventually('both are there', async () => {
      const { labels, annotations } = await metadata();
      return order in labels && 'example.com/note' in annotations;
    });
    await eventually('nothing is left out', async () => {
      return (await rig.condition('Client', box, 'app', 'NotInForce')) === 'undefined/undefined';
    });

    await annotate(rig, box, { 'boxgate.dev/secret-metadata': 'team' });
    await eventually('both are gone', async () => {
      const { labels, annotations } = await metadata();
      return !(order in labels) && !('example.com/note' in annotations);
    });
    expect((await metadata()).labels).to.include({ team: 'shop' });
    await rig.ready('Client', box, 'app');
  });

  for (const [what, generateSecret] of Object.entries({
    'an annotation of the operator': { annotations: { 'boxgate.dev/previous-until': '2099-01-01T00:00:00Z' } },
    'a label of the operator': { labels: { 'boxgate.dev/client-secret': 'true' } },
    'a reserved entry': { template: { '.boxgate-previous': 'bgs_x' } },
  })) {
    it(`are refused by the API server with ${what}`, async () => {
      const refused: unknown = await rig
        .put('Client', box, 'other', spec(generateSecret))
        .catch((error: unknown) => error);
      expect(String(refused)).to.contain('those belong to the operator');
    });
  }
});
