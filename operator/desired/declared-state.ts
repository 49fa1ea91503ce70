import { withGrantedHosts } from './granted-hosts.ts';
import type { BoxMemory } from '../reconcile/box-memory.ts';
import { contests, desiredOf, type Candidate, type Desired } from './desired.ts';
import { generatedSecrets } from '../secrets/generated-secrets.ts';
import { recordInlineSecrets } from '../secrets/inline-secrets.ts';
import { declaredResource, validate } from './validate.ts';
import type { BoxPass } from '../reconcile/box-pass.ts';
import { resolveSecret } from '../secrets/resolve.ts';
import type { Listing, SecretNeeds } from './source.ts';
import { permittedMetadata } from '../secrets/secret-metadata.ts';
import type { HostVerdict, Tenancy } from './tenancy.ts';

/** Returns the desired state of a box, with its secrets. Facts about an unchanged object are taken from memory. */
export async function declaredState(pass: BoxPass): Promise<readonly Desired[]> {
  const { box, scope, candidates, memory, context, signal } = pass;
  const losers = contests(candidates, memory.stored.rows);
  const issuer = issuerOf(candidates) ?? context.defaultIssuer(box);
  const secrets = await context.source.boxSecrets(box, needsOf(candidates, memory), signal);
  const wanting = candidates.filter((one) => wantsGenerated(one) && !losers.has(one.object.key));
  const lookAtAll = scope === 'everything' || memory.issuer !== issuer;
  const generated = await generatedSecrets(pass, { wanting, lookAtAll, issuer, secrets });
  memory.issuer = issuer;
  recordInlineSecrets(box, candidates, memory.objects, context.events);
  const desired = candidates.map((one) => {
    const { object, validated } = one;
    const { key, name } = object;
    const secret = resolveSecret(validated.secret, name, secrets.find, generated);
    const undigested = { object, validated, secret, loses: losers.get(key) };
    return desiredOf(undigested, memory.objects.get(key), context.digestKey);
  });
  memory.objects = new Map(desired.map((one) => [one.object.key, one]));
  return desired;
}

/** Judges the objects of a listing; a Box keeps only what its namespace grants. */
export function candidatesOf(
  { objects, tenancy, definitions }: Listing,
  memory: BoxMemory,
  defaultIssuer: string,
): readonly Candidate[] {
  // New definitions change the meaning of objects.
  if (memory.definitions !== definitions) memory.objects = new Map();
  memory.definitions = definitions;
  return objects.map((object) =>
    object.kind === 'Box' && tenancy !== undefined
      ? boxCandidate(object, tenancy.hosts, memory, defaultIssuer)
      : permitted(candidate(object, memory), tenancy, memory),
  );
}

function judgedNow(object: Candidate['object'], { definitions }: BoxMemory): Candidate['validated'] {
  return validate(object, definitions?.get(object.kind)?.newer);
}

/** Checks the metadata each time: the Namespace may change without the object. Reuses an equal earlier result. */
function permitted(one: Candidate, tenancy: Tenancy | undefined, memory: BoxMemory): Candidate {
  if (tenancy === undefined) return one;
  const whole = one.validated.whole ?? one.validated;
  const validated = permittedMetadata(whole, tenancy.secretLabels ?? none);
  const known = memory.objects.get(one.object.key)?.validated;
  const isSame = known?.whole === whole && String(known.notPermitted) === String(validated.notPermitted);
  if (isSame) return one.validated === known ? one : { object: one.object, validated: known };
  return validated === one.validated ? one : { object: one.object, validated };
}

const none: readonly string[] = [];

/** Judges a Box each time: its grants may change while the object does not. */
function boxCandidate(
  object: Candidate['object'],
  hosts: HostVerdict,
  memory: BoxMemory,
  defaultIssuer: string,
): Candidate {
  const plain = judgedNow(object, memory);
  const validated =
    plain.faults.length > 0 ? plain : withGrantedHosts(plain, declaredResource(object, plain), hosts, defaultIssuer);
  const known = memory.objects.get(object.key);
  if (known?.object.uid !== object.uid || known.validated.content !== validated.content) return { object, validated };
  return known.object === object && validated.faults.length === 0 ? known : { object, validated };
}

function candidate(object: Candidate['object'], memory: BoxMemory): Candidate {
  const known = memory.objects.get(object.key);
  if (known?.object === object) return known;
  const isSame = known?.object.resourceVersion === object.resourceVersion && known.object.uid === object.uid;
  return isSame ? { object, validated: known.validated } : { object, validated: judgedNow(object, memory) };
}

function issuerOf(candidates: readonly Candidate[]): string | undefined {
  for (const { validated } of candidates) if (validated.traits.kind === 'Box') return validated.traits.issuer;
  return undefined;
}

function needsOf(candidates: readonly Candidate[], memory: BoxMemory): SecretNeeds {
  const referred = new Set<string>();
  let generated = memory.generated.size > 0;
  for (const { validated } of candidates) {
    if (validated.secret.from === 'reference') referred.add(validated.secret.name);
    else if (validated.secret.from === 'generated') generated = true;
  }
  return { referred, generated };
}

function wantsGenerated({ validated }: Candidate): boolean {
  return validated.secret.from === 'generated' && !validated.suspended;
}
