import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { table } from '../../crds/objects/table.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { declared, machineClient } from '../declare.ts';
import { passRig } from '../pass-rig.ts';

/** Values in no table: they do not have the shape of an object. */
const shapeless: readonly unknown[] = [
  null,
  7,
  'text',
  [],
  {},
  { spec: null },
  { spec: [] },
  { spec: { id: 7, link: 7 } },
];

describe('objects that came past the definition', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('F-31 each say that they are invalid, and leave all others of their box alone', async () => {
    const rig = await passRig(api, 'bypassed');
    const refused = table.filter(({ verdict, old }) => verdict === 'refused' && old === undefined);
    const bodies = [
      ...refused.map(({ kind, object }) => [kind, object] as const),
      ...shapeless.map((body) => ['Client', body] as const),
    ];
    const invalid = bodies.map(([kind, body], nth) => {
      const spec = isObject(body) && isObject(body['spec']) ? body['spec'] : {};
      return { ...declared(kind, `bad-${String(nth)}`, spec), body: () => body };
    });
    const poison = {
      ...machineClient('poison'),
      body: () => {
        throw new TypeError('always');
      },
    };
    const good = [machineClient('one'), machineClient('two')];
    await rig.pass([...invalid, poison, ...good]);
    for (const { key } of [...invalid, poison]) {
      expect(rig.condition(key, 'Valid'), key).to.equal('False/Invalid');
      expect(rig.condition(key), key).to.equal('False/Invalid');
    }
    for (const { key, name } of good) {
      expect(rig.condition(key)).to.equal('True/Ready');
      expect(await rig.token(name)).to.equal(200);
    }
    expect(invalid.length).to.be.greaterThan(200);
  });
});
