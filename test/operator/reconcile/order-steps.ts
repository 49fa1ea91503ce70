import type { Kind } from '../../../crds/kind.ts';
import type { Random } from '../../support/random.ts';

/** One thing that a person does to an object: give it a spec, or, without one, delete it. */
export interface Step {
  readonly kind: Kind;
  readonly name: string;
  readonly spec: object | undefined;
}

const machine = { grant_types: ['client_credentials'] };
const link = (...ids: readonly string[]) => ids.map((id) => ({ resourceType: 'Client', id }));

/** Steps of each object, in order: created, edited, deleted, created again. Only the order between objects is free. */
const lives: readonly (readonly [kind: Kind, name: string, ...specs: readonly (object | undefined)[]])[] = [
  ['Box', 'box', {}, { tokens: { default_lifetime: 600 } }, undefined, { tokens: { default_lifetime: 900 } }],
  ['Client', 'plain', { ...machine, secret: 'one' }],
  ['Client', 'edited', { ...machine, secret: 'one' }, { ...machine, secret: 'two', name: 'Edited' }],
  ['Client', 'named', { ...machine, id: 'Another.Name', secret: 'one' }],
  ['Client', 'again', { ...machine, secret: 'one' }, undefined, { ...machine, secret: 'three', scope: ['read'] }],
  ['Client', 'gone', { ...machine, secret: 'one' }, { ...machine, secret: 'two' }, undefined],
  ['Client', 'off', { ...machine, secret: 'one' }, { ...machine, secret: 'one', active: false }],
  ['Client', 'asleep', { ...machine, secret: 'one', suspend: true }],
  ['Client', 'waiting', { ...machine, secretRef: { name: 'never-there', key: 'secret' } }],
  ['Client', 'revoked', { ...machine, secret: 'one', revoke_sessions_before: '2026-01-02T00:00:00Z' }],
  // The id passes from one object to another: who had it first is gone in the end.
  ['Client', 'first', { ...machine, id: 'passed-on', secret: 'one' }, undefined],
  ['Client', 'second', { ...machine, id: 'passed-on', secret: 'two' }],
  ['AccessPolicy', 'for-plain', { engine: 'allow', link: link('plain') }],
  ['AccessPolicy', 'for-many', { engine: 'allow', link: link('plain', 'again', 'gone', 'Another.Name', 'nobody') }],
  ['AccessPolicy', 'moved', { engine: 'allow', link: link('gone') }, { engine: 'allow', link: link('edited') }],
  ['AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==', subjects: 'authenticated' }],
  [
    'AccessPolicy',
    'mended',
    { engine: 'cel', expression: 'uri ==', link: link('off') },
    { engine: 'cel', expression: 'uri == "/"', link: link('off') },
  ],
  ['AccessPolicy', 'spoilt', { engine: 'allow', link: link('off') }, { engine: 'matcho', matcho: { $what: 1 } }],
  ['AccessPolicy', 'for-nobody', { engine: 'allow' }],
  ['AccessPolicy', 'dropped', { engine: 'allow', subjects: 'anyone' }, undefined],
];

/** Every step, object after object. */
export function stepsInOrder(): readonly Step[] {
  return lives.flatMap(([kind, name, ...specs]) => specs.map((spec) => ({ kind, name, spec })));
}

/** The same steps in an order of chance, those of one object in theirs. */
export function stepsByChance(random: Random): readonly Step[] {
  const left = lives.map(([kind, name, ...specs]) => specs.map((spec) => ({ kind, name, spec })));
  const steps: Step[] = [];
  for (let open = left; open.length > 0; open = open.filter((one) => one.length > 0)) {
    const next = open[random.below(open.length)]?.shift();
    if (next !== undefined) steps.push(next);
  }
  return steps;
}
