import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isList, isObject, type JsonObject } from '../../../crds/path.ts';
import { apply, kubectl, readObject, textAt, valueAt } from '../kubectl.ts';
import { eventually } from '../../support/eventually.ts';
import { bearer, boxUrl, secretEntries, tokenOf, tokenRequest } from '../token.ts';
import { createGround, notReady, type Ground } from './ground.ts';

const namespace = 'skew';
/** A field that only the newer definitions know. */
const newer = 'only_on_weekdays';

describe('story 7: newer definitions, then older ones again', () => {
  let ground: Ground;
  let token: string;
  before(async () => {
    ground = await createGround(namespace);
    const secret = secretEntries(await readObject({ object: 'secret/worker', namespace }));
    token = await tokenOf(
      ground.caller,
      tokenRequest(`${boxUrl(namespace)}/auth/token`, 'worker', secret['client_secret'] ?? ''),
    );
  });
  after(async () => {
    await kubectl('apply', '--server-side', '--force-conflicts', '--filename', 'crds/');
    await ground.remove();
  });

  const use = async () => (await ground.caller.call(bearer(`${boxUrl(namespace)}/Client/worker`, token))).status;
  const patch = (object: string, spec: JsonObject) =>
    kubectl('patch', object, '--namespace', namespace, '--type', 'merge', '--patch', JSON.stringify({ spec }));
  const field = async (object: string) => valueAt(await readObject({ object, namespace }), 'spec', newer);

  it('F-23 keeps every object as it is when the definitions gain an optional field', async () => {
    const specs = await specsOf();
    await applyDefinition('clients');
    await applyDefinition('accesspolicies');
    expect(await specsOf()).to.deep.equal(specs);
    expect(await use()).to.equal(200);
  });

  it('ignores the field on a Client, and says that the operator is older', async () => {
    await eventually('the API server knows the field', async () => {
      await patch('client/worker', { [newer]: true });
      return (await field('client/worker')) === true;
    });
    await eventually('the Client says OperatorOlder', async () => {
      const conditions = valueAt(await readObject({ object: 'client/worker', namespace }), 'status', 'conditions');
      return (
        isList(conditions) &&
        conditions.some((one) => textAt(one, 'reason') === 'OperatorOlder' || textAt(one, 'type') === 'OperatorOlder')
      );
    });
    expect(await use()).to.equal(200);
  });

  it('R-55 grants nothing by a policy with a field that the operator does not know', async () => {
    await patch('accesspolicy/worker', { [newer]: true });
    expect(await field('accesspolicy/worker')).to.equal(true);
    await eventually('the policy grants nothing', async () => (await use()) === 403);
  });

  it('grants again, and has every other field, after the definitions are of this release again', async () => {
    await patch('accesspolicy/worker', { [newer]: null });
    await patch('client/worker', { [newer]: null });
    await kubectl('apply', '--server-side', '--force-conflicts', '--filename', 'crds/');
    await eventually('the policy grants', async () => (await use()) === 200);
    await eventually('every status is Ready', async () => (await notReady(namespace)).length === 0);
  });
});

async function specsOf(): Promise<readonly unknown[]> {
  return [
    (await readObject({ object: 'client/worker', namespace }))['spec'],
    (await readObject({ object: 'accesspolicy/worker', namespace }))['spec'],
  ];
}

/** Applies a definition of this release with one optional field more. */
async function applyDefinition(plural: string): Promise<void> {
  const definition: unknown = parse(readFileSync(`crds/boxgate.dev_${plural}.yaml`, 'utf8'));
  const versions = valueAt(definition, 'spec', 'versions');
  const properties = isList(versions)
    ? valueAt(versions[0], 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties')
    : undefined;
  if (!isObject(properties)) throw new Error(`${plural}: no fields`);
  Object.assign(properties, { [newer]: { type: 'boolean', description: 'A field of a later release.' } });
  await apply(JSON.stringify(definition));
}
