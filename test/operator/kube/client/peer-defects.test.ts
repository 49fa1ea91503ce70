import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { generateClientSecret } from '../../../../api/credentials/client-secret.ts';
import type { Kind } from '../../../../crds/kind.ts';
import { forEachConcurrently } from '../../../../operator/kube/client/kube-object.ts';
import { sendJson } from '../../../oauth/requests.ts';
import { eventually } from '../../../support/eventually.ts';
import type { TestOperator } from '../../../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';

const machine = { grant_types: ['client_credentials'], secret: 'a-secret' };

describe('what goes wrong elsewhere', () => {
  let rig: OperatorRig;
  let operator: TestOperator;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    operator = await rig.operator();
    box = await rig.box();
    await rig.put('Client', box, 'app', machine);
    await rig.ready('Client', box, 'app', 60_000);
  });
  after(() => rig.stop());

  /** Status of `GET /Session` with a new token of the client. */
  async function access(): Promise<number> {
    const body = { grant_type: 'client_credentials', client_id: 'app', client_secret: 'a-secret' };
    const { access_token } = (await sendJson(`${rig.api.url}/boxes/${box}/auth/token`, body)).body;
    const headers = { Authorization: `Bearer ${String(access_token)}` };
    return (await fetch(`${rig.api.url}/boxes/${box}/Session`, { headers })).status;
  }

  it('peer defect 2: of 1,000 clients, more than a page of a list, exactly the one that is deleted stops working', async function () {
    this.timeout(600_000);
    const many = await rig.box({ secrets: false });
    const secrets = new Map(Array.from({ length: 1_000 }, (_, nth) => [`c${String(nth)}`, generateClientSecret()]));
    /** The clients whose token request is not answered as it should be, with the status of the answer. */
    const wrong = async (gone: string): Promise<readonly string[]> => {
      const found: string[] = [];
      await forEachConcurrently([...secrets], async ([id, secret]) => {
        const status = await rig.token(many, id, secret);
        if (status !== (id === gone ? 401 : 200)) found.push(`${id}: ${String(status)}`);
      });
      return found;
    };
    await forEachConcurrently([...secrets], ([id, secret]) => rig.put('Client', many, id, { ...machine, secret }));
    for (const id of secrets.keys()) await rig.ready('Client', many, id, 240_000);
    expect(await wrong('')).to.deep.equal([]);
    await rig.remove('Client', many, 'c777');
    await eventually('it is gone', async () => (await rig.find('Client', many, 'c777')) === undefined);
    expect(await wrong('c777')).to.deep.equal([]);
    // What another operator makes of a list alone.
    await operator.stop();
    operator = await rig.operator();
    await rig.put('Client', many, 'c0', { ...machine, secret: 'of-another-operator' });
    await rig.ready('Client', many, 'c0', 60_000);
    secrets.delete('c0');
    expect(await wrong('c777')).to.deep.equal([]);
  });

  it('peer defect 5: the operator never writes into a spec, nor what people say in metadata', async () => {
    const metadata = { labels: { team: 'a' }, annotations: { 'example.com/note': 'x' } };
    const specs: readonly (readonly [kind: Kind, name: string, spec: object])[] = [
      ['Client', 'plain', machine],
      ['Client', 'faulty', { ...machine, revoke_sessions_before: '2999-01-01T00:00:00Z' }],
      ['Client', 'asleep', { ...machine, suspend: true }],
      ['AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==' }],
      ['AccessPolicy', 'readers', { engine: 'allow', link: [{ reference: 'Client/plain' }] }],
      ['Box', 'box', { tokens: { default_lifetime: 600 } }],
    ];
    for (const [kind, name, spec] of specs) await rig.put(kind, box, name, spec, metadata);
    for (const [kind, name, spec] of specs) {
      await eventually(
        `${name} was looked at`,
        async () => (await rig.condition(kind, box, name)) !== 'undefined/undefined',
      );
      const found = (await rig.find(kind, box, name)) ?? {};
      expect(found['spec'], name).to.deep.equal(spec);
      expect(found['metadata'], name).to.deep.include({ ...metadata, generation: 1 });
      expect(ownedByUs(found), name).to.deep.equal([]);
    }
  });

  it('peer defect 10: a misspelt word of a rule opens nothing: the policy says so and grants nobody', async () => {
    await rig.put('AccessPolicy', box, 'misspelt', {
      engine: 'json-schema',
      schema: { properties: { 'request-method': { constant: 'post' } } },
      link: [{ resourceType: 'Client', id: 'app' }],
    });
    await eventually(
      'it says so',
      async () => (await rig.condition('AccessPolicy', box, 'misspelt', 'Valid')) === 'False/Invalid',
    );
    expect(JSON.stringify((await rig.find('AccessPolicy', box, 'misspelt'))?.['status'])).to.contain('constant');
    expect(await access()).to.equal(403);
    await rig.remove('AccessPolicy', box, 'misspelt');
  });

  it('peer defect 11: what is granted to people and groups is not granted to machines', async () => {
    const rules: Readonly<Record<string, object>> = {
      'for-a-group': { engine: 'allow', link: [{ resourceType: 'Group', id: 'staff' }] },
      'for-a-user': { engine: 'allow', link: [{ resourceType: 'User', id: '7' }] },
      'for-members': { engine: 'cel', expression: 'user.groups.exists(g, g == "staff")', subjects: 'authenticated' },
      'for-people': { engine: 'matcho', matcho: { user: 'present?' }, subjects: 'anyone' },
    };
    for (const [name, spec] of Object.entries(rules)) await rig.put('AccessPolicy', box, name, spec);
    for (const name of Object.keys(rules)) await rig.ready('AccessPolicy', box, name);
    expect(await access()).to.equal(403);
    await rig.put('AccessPolicy', box, 'for-app', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await rig.ready('AccessPolicy', box, 'for-app');
    expect(await access()).to.equal(200);
  });
});

/** Fields of an object that we own beside its status and our finalizer. */
function ownedByUs(object: Readonly<Record<string, unknown>>): readonly string[] {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const entries = Array.isArray(metadata['managedFields']) ? metadata['managedFields'].filter(isObject) : [];
  return entries
    .filter(({ manager }) => manager === 'boxgate')
    .flatMap(({ fieldsV1 }) => paths(fieldsV1))
    .filter((path) => !path.startsWith('f:status') && !path.startsWith('f:metadata/f:finalizers'));
}

function paths(fields: unknown, parent = ''): readonly string[] {
  const members = isObject(fields) ? Object.entries(fields) : [];
  if (members.length === 0) return parent === '' ? [] : [parent];
  return members.flatMap(([name, below]) => paths(below, parent === '' ? name : `${parent}/${name}`));
}
