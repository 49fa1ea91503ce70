import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { KINDS } from '../../../crds/kind.ts';
import { kubectl } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

/** The examples, and how kubectl reads each. */
const examples: Readonly<Record<string, readonly string[]>> = {
  'examples/kubernetes': ['-f', 'examples/kubernetes'],
  'examples/kubernetes/unhappy': ['-f', 'examples/kubernetes/unhappy'],
  'examples/kubernetes/secretless': ['-k', 'examples/kubernetes/secretless'],
  'examples/people': ['-n', 'people', '-f', 'examples/people'],
  'examples/standalone': ['-n', 'standalone', '-f', 'examples/standalone'],
};

const modes: Readonly<Record<string, readonly string[]>> = {
  'client-side apply': [],
  'server-side apply': ['--server-side'],
};

describe('kubectl diff after an example has been reconciled', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator();
    for (const namespace of ['people', 'standalone']) await kubectl(rig.plane, 'create', 'namespace', namespace);
  });
  after(async () => {
    await rig.stop();
  });

  /** Returns all objects of our kinds. */
  async function ours(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const lists = await Promise.all(
      Object.values(KINDS).map(({ plural }) => rig.plane.call({ path: `/apis/boxgate.dev/v1/${plural}` })),
    );
    return lists.flatMap(({ body }) =>
      isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [],
    );
  }

  async function settled(): Promise<boolean> {
    const all = await ours();
    return all.every(({ metadata, status }) => {
      const generation = isObject(metadata) ? metadata['generation'] : undefined;
      return isObject(status) && status['observedGeneration'] === generation;
    });
  }

  for (const [mode, options] of Object.entries(modes)) {
    it(`is empty for every example, by ${mode}`, async () => {
      for (const files of Object.values(examples)) await kubectl(rig.plane, 'apply', ...options, ...files);
      expect(await ours()).to.have.length.greaterThan(20);
      await eventually('everything has been reconciled', settled);
      for (const [name, files] of Object.entries(examples)) {
        // It ends with 1, which is thrown, where anything differs.
        expect(await kubectl(rig.plane, 'diff', ...options, ...files), name).to.equal('');
      }
      for (const { plural } of Object.values(KINDS)) {
        await kubectl(rig.plane, 'delete', `${plural}.boxgate.dev`, '--all', '--all-namespaces');
      }
      expect(await ours()).to.deep.equal([]);
    });
  }
});
