import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';

describe('an object that an admission rule does not let the operator change', () => {
  let rig: SourceRig;
  eachInCluster((made) => (rig = made));
  afterEach(() => allowAgain());

  const sentence = 'the team says no';
  const names = () => ({ policy: `refuse-${rig.box}`, client: (name: string) => rig.at('Client', name) });

  /** Denies changes of Clients of this box for which an expression is false. */
  async function deny(expression: string): Promise<void> {
    const name = names().policy;
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': rig.box } };
    const resourceRules = [
      { apiGroups: ['boxgate.dev'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['clients'] },
    ];
    const made = (kind: string, spec: object) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name },
      spec,
    });
    await rig.plane.call({
      method: 'POST',
      path: `${admission}/validatingadmissionpolicies`,
      body: made('ValidatingAdmissionPolicy', {
        matchConstraints: { namespaceSelector, resourceRules },
        validations: [{ expression, message: sentence }],
      }),
    });
    await rig.plane.call({
      method: 'POST',
      path: `${admission}/validatingadmissionpolicybindings`,
      body: made('ValidatingAdmissionPolicyBinding', { policyName: name, validationActions: ['Deny'] }),
    });
  }

  async function allowAgain(): Promise<void> {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      await rig.plane.call({ method: 'DELETE', path: `${admission}/${kind}/${names().policy}` });
  }

  /** Waits until the API server denies a change of an object that the rule is about. */
  async function isDenied(name: string): Promise<void> {
    await eventually(`changes of ${name} are denied`, async () => {
      const body = { metadata: { annotations: { probe: 'x' } } };
      const contentType = 'application/merge-patch+json';
      const path = `${names().client(name)}?dryRun=All`;
      return (await rig.plane.call({ method: 'PATCH', path, body, contentType })).status === 422;
    });
  }

  async function message(name: string): Promise<string> {
    const { conditions } = await rig.find('Client', name);
    return String(conditions.find(({ type }) => type === 'Ready')?.['message']);
  }

  it('says so where it cannot be released, and holds up nothing else of its box', async () => {
    // E-06: one refused release stopped the whole box, whose statuses said that the API is away.
    await rig.start();
    for (const name of ['old', 'dis']) await rig.put('Client', name, machine(`of-${name}`));
    await rig.put('Box', 'box', {});
    for (const name of ['old', 'dis']) await rig.ready('Client', name);
    await deny("object.metadata.name != 'old'");
    await isDenied('old');
    await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'old') });
    await eventually('it is told', async () => (await rig.condition('Client', 'old')) === 'False/FinalizerRefused');
    expect(await message('old'))
      .to.contain(sentence)
      .and.to.contain('cannot release it');
    expect(await rig.token('old', 'of-old')).to.equal(401);
    await rig.put('Client', 'dis', { ...machine('of-dis'), active: false });
    await eventually('it gets no token', async () => (await rig.token('dis', 'of-dis')) === 401);
    await rig.put('Client', 'new', machine('of-new'));
    await rig.ready('Client', 'new');
    expect(await rig.token('new', 'of-new')).to.equal(200);
    expect(await rig.condition('Box', 'box')).to.equal('True/Ready');
    expect(rig.failures.map(String).join()).to.contain(sentence);
    await allowAgain();
    const isGone = async (): Promise<boolean> =>
      (await rig.plane.call({ path: rig.at('Client', 'old') })).status === 404;
    await eventually('it is released', isGone);
  });

  it('says so where it cannot be held, while all others are Ready', async () => {
    // E-06: one refused finalizer left every object of the box without a status.
    await deny("object.metadata.name != 'bad'");
    await rig.put('Client', 'bad', machine('of-bad'));
    await isDenied('bad');
    await rig.put('Client', 'good', machine('of-good'));
    await rig.start();
    await rig.ready('Client', 'good');
    await eventually('it is told', async () => (await rig.condition('Client', 'bad')) === 'False/FinalizerRefused');
    expect(await message('bad')).to.contain(sentence);
    expect(await rig.token('bad', 'of-bad')).to.equal(200);
    await allowAgain();
    await rig.ready('Client', 'bad');
  });
});
