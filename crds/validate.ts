import { isObject } from './path.ts';
import { accessPolicyRules } from './access-policy-rules.ts';
import { accessPolicySchema, storedPolicy, type AccessPolicy } from './access-policy.ts';
import { boxRules, groupRules } from './box-rules.ts';
import { boxSchema, type Box } from './box.ts';
import { groupSchema, type Group } from './group.ts';
import { clientRules } from './client-rules.ts';
import { clientSchema, type Client } from './client.ts';
import type { Fault } from './fault.ts';
import type { Kind } from './kind.ts';
import { withTextLinkIds } from './links.ts';
import type { Draft, Rule } from './rule.ts';
import { validate, shapeOf, type Shape } from './shape.ts';

/** The resource type of each kind. */
export interface Resources {
  Client: Client;
  AccessPolicy: AccessPolicy;
  Box: Box;
  Group: Group;
}

/** A resource of any kind, as the operator submits it. */
export type Resource = Resources[Kind];

/** Returns the id of the row that a resource is stored in; that of a group is its name until it is stored. */
export function rowIdOf(resource: Resource): string {
  return resource.resourceType === 'Group' ? resource.name : resource.id;
}

/** A resource that may be stored, or every fault of the submitted value. */
export type Checked<T> =
  { readonly ok: true; readonly resource: T } | { readonly ok: false; readonly faults: readonly Fault[] };

/** Check of a submitted resource of one kind. */
export type ResourceCheck<K extends Kind> = (value: unknown) => Checked<Resources[K]>;

/**
 * Checks a submitted resource and converts it into its stored form (links as `{resourceType, id}`). A missing
 * `resourceType` is taken from the kind. Never throws, whatever the value; lists every fault with its field.
 */
export function checkResource<K extends Kind>(kind: K, value: unknown): Checked<Resources[K]> {
  return CHECKS[kind](value);
}

const CHECKS: { readonly [K in Kind]: ResourceCheck<K> } = {
  Client: checkOf('Client', { shape: shapeOf(clientSchema), rules: clientRules, stored: (client) => client }),
  AccessPolicy: checkOf('AccessPolicy', {
    shape: shapeOf(accessPolicySchema),
    rules: accessPolicyRules,
    stored: storedPolicy,
    prepared: withTextLinkIds,
  }),
  Box: checkOf('Box', { shape: shapeOf(boxSchema), rules: boxRules, stored: (box) => box }),
  Group: checkOf('Group', { shape: shapeOf(groupSchema), rules: groupRules, stored: (group) => group }),
};

/** Schema and rules of a kind, and the conversions before and after the check. */
interface Definition<Submitted, Stored> {
  readonly shape: Shape<Submitted>;
  readonly rules: readonly Rule<Draft<Submitted>>[];
  readonly prepared?: (value: unknown) => unknown;
  readonly stored: (submitted: Submitted) => Stored;
}

function checkOf<Submitted, Stored>(
  resourceType: Kind,
  { shape, rules, prepared = (value) => value, stored }: Definition<Submitted, Stored>,
): (value: unknown) => Checked<Stored> {
  return (value) => {
    const validated = validate(shape, rules, prepared(isObject(value) ? { resourceType, ...value } : value));
    return validated.ok ? { ok: true, resource: stored(validated.value) } : validated;
  };
}
