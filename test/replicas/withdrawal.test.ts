import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { KINDS } from '../../crds/kind.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { fieldsOf, isNotInForce } from '../../crds/reference.ts';
import { schemaNode } from '../../crds/schema-node.ts';
import { writableUserFields } from '../../api/records/user-document.ts';
import { makeSigner } from '../oauth/assertions.ts';
import { startApi } from '../support/api.ts';
import { nextMillisecond } from '../support/eventually.ts';
import { unthrottled } from '../support/unthrottled.ts';
import { boxStories } from './withdrawals/boxes.ts';
import { clientStories } from './withdrawals/clients.ts';
import { Ground } from './withdrawals/ground.ts';
import type { Surroundings } from './withdrawals/ground.ts';
import { GRANTS_NOTHING, MADE_INTO_OTHERS } from './withdrawals/nothing-to-withdraw.ts';
import { peopleStories } from './withdrawals/people.ts';
import { policyStories } from './withdrawals/policies.ts';
import { portOf } from '../../program/environment.ts';

const stories = { ...clientStories, ...policyStories, ...boxStories, ...peopleStories };

/** Tests that a grant used on both replicas and withdrawn on one is denied by the next request on both. */
describe('what a field grants', () => {
  let surroundings: Surroundings;
  let keys: Server;

  before(async () => {
    const key = await makeSigner('RS256', 'one');
    keys = createServer((_request, response) => response.end(JSON.stringify({ keys: [key.publicJwk] })));
    keys.listen(0, '127.0.0.1');
    await once(keys, 'listening');
    const host = `127.0.0.1:${String(portOf(keys))}`;
    const environment = { ...unthrottled, BOXGATE_JWKS_HOSTS: host };
    const one = await startApi({ environment });
    const two = await startApi({ environment, database: one.database });
    surroundings = { one, two, key, keysUri: `http://${host}/keys`, otherKey: await makeSigner('RS256', 'one') };
  });
  after(async () => {
    await surroundings.two.stop();
    await surroundings.one.stop();
    keys.closeAllConnections();
    keys.close();
  });

  let nth = 0;
  for (const [field, story] of Object.entries(stories)) {
    it(`${field}: refused by the next request on both replicas once it is withdrawn`, async () => {
      const { one, two } = surroundings;
      const { use, withdraw } = await story(new Ground(surroundings, `withdrawn-${String((nth += 1))}`));
      expect([await use(one), await use(two)], 'granted').to.deep.equal([true, true]);
      await nextMillisecond();
      await withdraw();
      expect([await use(two), await use(one)], 'withdrawn').to.deep.equal([false, false]);
    });
  }
});

describe('the fields of all resources', () => {
  const told = [...Object.keys(stories).map(fieldOf), ...Object.keys(GRANTS_NOTHING), ...Object.keys(MADE_INTO_OTHERS)];

  it('are each withdrawn by a test, or said to grant nothing', () => {
    const untold = allFields().filter((field) => !told.some((one) => isBelow(field, one)));
    expect(
      untold,
      'add a story for each, or its reason to test/replicas/withdrawals/nothing-to-withdraw.ts',
    ).to.deep.equal([]);
  });

  it('that are told of are there', () => {
    const fields = allFields();
    const gone = told.filter((one) => !one.endsWith('.id') && !fields.some((field) => isBelow(field, one)));
    expect(gone.filter((one) => !/^(Session|Group)\./.test(one))).to.deep.equal([]);
  });

  it('that become others have a test of what becomes of them', () => {
    const missing = Object.values(MADE_INTO_OTHERS).filter(
      ([file, title]) => !existsSync(file) || !readFileSync(file, 'utf8').includes(title),
    );
    expect(missing).to.deep.equal([]);
  });
});

/** Returns every field that is in force, of the custom resources, users and groups. */
function allFields(): readonly string[] {
  const declared = Object.values(KINDS).flatMap(({ kind }) =>
    fieldsOf(schemaNode(manifestSchemas[kind].properties.spec))
      .filter(({ path, isLeaf }) => isLeaf && !isNotInForce(kind, path))
      .map(({ path }) => `${kind}.${path}`),
  );
  return [...declared, ...writableUserFields.map((field) => `User.${field}`)];
}

/** The field of a story: what it says in parentheses tells its stories apart. */
function fieldOf(title: string): string {
  return title.replace(/ \(.*/, '');
}

function isBelow(field: string, parent: string): boolean {
  return field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[]`);
}
