import { withGrantedHosts } from './granted-hosts.ts';
import type { Candidate, Desired } from './desired.ts';
import { declaredResource, validate } from './validate.ts';
import type { Listing } from './source.ts';
import { permittedMetadata } from '../secrets/secret-metadata.ts';
import type { HostGrants, Tenancy } from './tenancy.ts';

/** Facts that objects are validated with. */
interface Validation extends Pick<Listing, 'definitions'> {
  /** By object key: the last results under the same definitions. */
  readonly known: ReadonlyMap<string, Desired>;
  readonly defaultIssuer: string;
}

/**
 * Validates the objects of a listing; a Box keeps only what its namespace grants. An object that has not changed keeps
 * its result in `known`, which has the last ones under the same definitions by object key.
 */
export function candidatesOf(
  { objects, tenancy, definitions }: Listing,
  known: ReadonlyMap<string, Desired>,
  defaultIssuer: string,
): readonly Candidate[] {
  const validation = { definitions, known, defaultIssuer };
  return objects.map((object) =>
    object.kind === 'Box' && tenancy !== undefined
      ? boxCandidate(object, tenancy.hosts, validation)
      : permitted(candidate(object, validation), tenancy, known),
  );
}

/** Returns the issuer that the Box of a listing declares. */
export function issuerOf(candidates: readonly Candidate[]): string | undefined {
  for (const { validated } of candidates) if (validated.traits.kind === 'Box') return validated.traits.issuer;
  return undefined;
}

function validatedNow(object: Candidate['object'], { definitions }: Validation): Candidate['validated'] {
  return validate(object, definitions?.get(object.kind)?.newer);
}

/** Checks the metadata each time: the Namespace may change without the object. Reuses an equal earlier result. */
function permitted(one: Candidate, tenancy: Tenancy | undefined, known: ReadonlyMap<string, Desired>): Candidate {
  if (tenancy === undefined) return one;
  const whole = one.validated.whole ?? one.validated;
  const validated = permittedMetadata(whole, tenancy.secretMetadata ?? none);
  const before = known.get(one.object.key)?.validated;
  const isSame = before?.whole === whole && String(before.notPermitted) === String(validated.notPermitted);
  if (isSame) return one.validated === before ? one : { object: one.object, validated: before };
  return validated === one.validated ? one : { object: one.object, validated };
}

const none: readonly string[] = [];

/** Validates a Box each time: its grants may change while the object does not. */
function boxCandidate(object: Candidate['object'], hosts: HostGrants, validation: Validation): Candidate {
  const plain = validatedNow(object, validation);
  const validated =
    plain.faults.length > 0
      ? plain
      : withGrantedHosts(plain, declaredResource(object, plain), hosts, validation.defaultIssuer);
  const before = validation.known.get(object.key);
  if (before?.object.uid !== object.uid || before.validated.content !== validated.content) return { object, validated };
  return before.object === object && validated.faults.length === 0 ? before : { object, validated };
}

function candidate(object: Candidate['object'], validation: Validation): Candidate {
  const before = validation.known.get(object.key);
  if (before?.object === object) return before;
  const isSame = before?.object.resourceVersion === object.resourceVersion && before.object.uid === object.uid;
  return { object, validated: isSame ? before.validated : validatedNow(object, validation) };
}
