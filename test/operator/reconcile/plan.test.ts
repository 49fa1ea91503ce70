import { expect } from 'chai';
import type { KnownRow } from '../../../operator/reconcile/box-cache.ts';
import type { Desired } from '../../../operator/desired/desired.ts';
import type { Refusal } from '../../../operator/status/reconcile-result.ts';
import { nextCall, planOf, type Removal } from '../../../operator/reconcile/plan.ts';
import { declared, desired, machineClient } from '../declare.ts';

interface Case {
  readonly title: string;
  readonly desired: readonly Desired[];
  readonly rows?: readonly KnownRow[];
  readonly refusals?: Readonly<Record<string, Refusal>>;
  readonly incomplete?: true;
  /** Ids. */
  readonly declares?: readonly string[];
  /**
   * Ids; a question mark behind those that must be looked for once more, `retained` behind those that only lose their
   * owner.
   */
  readonly removes?: readonly string[];
}

const missing = { state: 'missing', reason: 'SecretNotFound', message: '' } as const;
const app = machineClient('app');

/** A row as the object of that name made it; `digest-of-<name>` is what it wants. */
function row(
  id: string,
  name: string,
  digest: string | undefined = `digest-of-${name}`,
  uid = `uid-${name}`,
): KnownRow {
  return { kind: 'Client', id, declarer: { namespace: 'default', name, uid }, digest, retain: false, faults: [] };
}

function refusal(digest: string): Refusal {
  return { digest, result: 'conflict', faults: [], detail: '' };
}

const cases: readonly Case[] = [
  { title: 'declares what has no row', desired: [desired(app)], declares: ['app'] },
  { title: 'leaves alone what is as it should be', desired: [desired(app)], rows: [row('app', 'app')] },
  {
    title: 'declares what is different',
    desired: [desired(app)],
    rows: [row('app', 'app', 'older')],
    declares: ['app'],
  },
  {
    title: 'declares again what only is known to be there',
    desired: [desired(app)],
    rows: [{ ...row('app', 'app'), digest: undefined }],
    declares: ['app'],
  },
  {
    title: 'F-10 removes what nobody declares only after another look',
    desired: [],
    rows: [row('app', 'app')],
    removes: ['app?'],
  },
  {
    title: 'says of what nobody declares that it is to be retained',
    desired: [],
    rows: [{ ...row('app', 'app'), retain: true }],
    removes: ['app? retained'],
  },
  {
    title: 'removes nothing while something cannot be read',
    desired: [],
    rows: [row('app', 'app')],
    incomplete: true,
  },
  {
    title: 'passes an id from an object that is gone to another one',
    desired: [desired(machineClient('new', { id: 'app' }))],
    rows: [row('app', 'old')],
    declares: ['app'],
    removes: ['app?'],
  },
  {
    title: 'follows an object that declares another id now, without another look: the object itself says so',
    desired: [desired(machineClient('app', { id: 'renamed' }))],
    rows: [row('app', 'app')],
    declares: ['renamed'],
    removes: ['app'],
  },
  {
    title: 'does so also while something else cannot be read',
    desired: [desired(machineClient('app', { id: 'renamed' }))],
    rows: [row('app', 'app')],
    incomplete: true,
    declares: ['renamed'],
    removes: ['app'],
  },
  {
    title: 'takes the row from an object that has lost its id to an older one',
    desired: [desired(app, { loses: 'default/older' }), desired(machineClient('older', { id: 'app' }))],
    rows: [row('app', 'app')],
    declares: ['app'],
    removes: ['app'],
  },
  {
    title: 'F-09 looks once more before it believes that an object was created again',
    desired: [desired({ ...app, uid: 'another' })],
    rows: [row('app', 'app')],
    declares: ['app'],
    removes: ['app?'],
  },
  {
    title: 'leaves the row of a faulty object alone',
    desired: [desired(declared('Client', 'app', {}))],
    rows: [row('app', 'app', 'older')],
  },
  {
    title: 'leaves any row of a faulty object alone: its id cannot be told for sure',
    desired: [desired(declared('Client', 'app', {}))],
    rows: [row('its-real-id', 'app', 'older')],
  },
  {
    title: 'leaves the row of a suspended object alone',
    desired: [desired(machineClient('app', { suspend: true }))],
    rows: [row('app', 'app', 'older')],
  },
  { title: 'makes no client whose secret is missing', desired: [desired(app, { secret: missing })] },
  {
    title: 'updates a client that is there though its secret is missing',
    desired: [desired(app, { secret: missing })],
    rows: [row('app', 'app', 'older')],
    declares: ['app'],
  },
  {
    title: 'does not try again what was refused as it is',
    desired: [desired(app)],
    refusals: { 'Client/app': refusal('digest-of-app') },
  },
  {
    title: 'tries again what was refused once it is different',
    desired: [desired(app)],
    refusals: { 'Client/app': refusal('an older one') },
    declares: ['app'],
  },
  {
    title: 'tries again what was refused when the row in its way goes',
    desired: [desired(app)],
    rows: [row('app', 'other')],
    refusals: { 'Client/app': refusal('digest-of-app') },
    declares: ['app'],
    removes: ['app?'],
  },
];

describe('planOf', () => {
  for (const { title, desired: wanted, rows = [], refusals = {}, incomplete, declares = [], removes = [] } of cases) {
    it(title, () => {
      const plan = planOf({
        desired: wanted,
        rows: new Map(rows.map((one) => [`${one.kind}/${one.id}`, one])),
        refusals: new Map(Object.entries(refusals)),
        complete: incomplete !== true,
      });
      expect(plan.declare.map(({ validated }) => validated.id)).to.deep.equal(declares);
      const removals = plan.remove.map(
        ({ row: { id }, confirm, retain }) => `${id}${confirm ? '?' : ''}${retain ? ' retained' : ''}`,
      );
      expect(removals).to.deep.equal(removes);
    });
  }

  it('plans one change among ten thousand objects as one', () => {
    const many = Array.from({ length: 10_000 }, (_, nth) => desired(machineClient(`c${String(nth)}`)));
    const rows = many.map(({ object }) => row(object.name, object.name));
    const changed = many.map((one, nth) => (nth === 777 ? { ...one, digest: 'new' } : one));
    const plan = planOf({
      desired: changed,
      rows: new Map(rows.map((one) => [`Client/${one.id}`, one])),
      refusals: new Map(),
      complete: true,
    });
    expect(plan.declare.map(({ validated }) => validated.id)).to.deep.equal(['c777']);
    expect(plan.remove).to.deep.equal([]);
  });
});

describe('nextCall', () => {
  /** Objects of 32 KiB, the oldest last: 32 of them are a call. */
  const large = Array.from({ length: 40 }, (_, nth) =>
    desired({ ...machineClient(`c${String(nth)}`), length: 32_768, created: `2026-01-01T00:00:${String(59 - nth)}Z` }),
  );
  const removalOf = (id: string): Removal => ({
    row: { kind: 'Client', id },
    declarer: { namespace: 'default', name: id, uid: 'gone' },
    confirm: true,
    retain: false,
  });

  it('carries about a megabyte, the oldest objects first, and names the objects that are left', () => {
    const call = nextCall({ declare: large, remove: [] });
    expect(call.declare.map(({ object }) => object.name)).to.deep.equal(
      large
        .toReversed()
        .slice(0, 32)
        .map(({ object }) => object.name),
    );
    expect([...call.left].toSorted()).to.deep.equal(
      large
        .slice(0, 8)
        .map(({ object }) => object.key)
        .toSorted(),
    );
  });

  it('removes everything but the rows that pass to an object of a later call', () => {
    const { remove } = nextCall({ declare: large, remove: ['old', 'c0', 'c39'].map(removalOf) });
    expect(remove.map(({ row }) => row.id)).to.deep.equal(['old', 'c39']);
  });

  it('carries the Box with the policy that its first admin would get before all others', () => {
    const box = desired(declared('Box', 'box', {}, { created: '2028' }));
    const policy = desired(declared('AccessPolicy', 'admins', { engine: 'allow', link: [] }, { created: '2027' }));
    const { declare } = nextCall({ declare: [...large, box, policy], remove: [] });
    expect(declare.slice(0, 2).map(({ object }) => object.key)).to.deep.equal(['AccessPolicy/admins', 'Box/box']);
  });
});
