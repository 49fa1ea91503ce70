import { allowedBox } from './allowed-box.ts';
import type { BoxMemory } from './box-memory.ts';
import { contests, desiredOf, type Candidate, type Desired } from './desired.ts';
import { secretFacts } from './generated-secret.ts';
import { declaredResource, judge } from './judge.ts';
import type { PassContext, PassScope } from './pass-context.ts';
import { resolveSecret, type ResolvedSecret } from './resolve-secret.ts';
import type { SecretWish } from './secret-keeper.ts';
import { secretName } from './secret-source.ts';
import type { Listing } from './source.ts';
import type { HostVerdict } from './tenancy.ts';

/** What a listing declares, with its secrets. What is known of an unchanged object is taken from memory. */
export async function declaredState(
  box: string,
  listing: Listing,
  candidates: readonly Candidate[],
  scope: PassScope,
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<readonly Desired[]> {
  const losers = contests(candidates);
  const issuer = issuerOf(candidates) ?? context.defaultIssuer(box);
  const wanting = candidates.filter((one) => wantsGenerated(one) && !losers.has(one.object.key));
  const lookAtAll = scope === 'everything' || memory.issuer !== issuer;
  const generated = await generatedSecrets(box, wanting, lookAtAll, issuer, listing, memory, context, signal);
  memory.issuer = issuer;
  const desired = candidates.map((one) => {
    const { key } = one.object;
    const secret = resolveSecret(one.judged.secret, one.object.name, listing.secrets, generated);
    return desiredOf(one, secret, losers.get(key), memory.objects.get(key), context.digestKey);
  });
  memory.objects = new Map(desired.map((one) => [one.object.key, one]));
  return desired;
}

/** What a listing declares, judged; of a Box only what its namespace grants it. */
export function candidatesOf(
  { objects, tenancy }: Listing,
  memory: BoxMemory,
  defaultIssuer: string,
): readonly Candidate[] {
  return objects.map((object) =>
    object.kind === 'Box' && tenancy !== undefined
      ? boxCandidate(object, tenancy.hosts, memory, defaultIssuer)
      : candidate(object, memory),
  );
}

/** Judged anew each time: what it gets may change while it does not. */
function boxCandidate(
  object: Candidate['object'],
  hosts: HostVerdict,
  memory: BoxMemory,
  defaultIssuer: string,
): Candidate {
  const plain = judge(object);
  const judged = plain.faults.length > 0 ? plain : allowedBox(plain, declaredResource(object), hosts, defaultIssuer);
  const known = memory.objects.get(object.key);
  if (known?.object.uid !== object.uid || known.judged.content !== judged.content) return { object, judged };
  return known.object === object && judged.faults.length === 0 ? known : { object, judged };
}

function candidate(object: Candidate['object'], memory: BoxMemory): Candidate {
  const known = memory.objects.get(object.key);
  if (known?.object === object) return known;
  const isSame = known?.object.resourceVersion === object.resourceVersion && known.object.uid === object.uid;
  return isSame ? { object, judged: known.judged } : { object, judged: judge(object) };
}

function issuerOf(candidates: readonly Candidate[]): string | undefined {
  for (const { judged } of candidates) if (judged.traits.kind === 'Box') return judged.traits.issuer;
  return undefined;
}

function wantsGenerated({ judged }: Candidate): boolean {
  return judged.secret.from === 'generated' && !judged.suspended;
}

/** The generated secrets by the name of their Client. Those that nothing has changed about are looked at in a sweep only. */
async function generatedSecrets(
  box: string,
  wanting: readonly Candidate[],
  lookAtAll: boolean,
  issuer: string,
  listing: Listing,
  memory: BoxMemory,
  { keeper }: PassContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ResolvedSecret>> {
  const resolved = new Map<string, ResolvedSecret>();
  const wishes: SecretWish[] = [];
  for (const one of wanting) {
    const { name } = one.object;
    const known = lookAtAll ? undefined : memory.objects.get(one.object.key);
    const taken = wantedName(one);
    if (known?.judged === one.judged && known.secret.state === 'ready') resolved.set(name, known.secret);
    else if (listing.secrets.has(taken)) resolved.set(name, notOwned(taken));
    else if (listing.tenancy?.isTerminating === true) resolved.set(name, notMade(taken));
    else wishes.push(wishOf(one, issuer));
  }
  const kept = wishes.length === 0 ? new Map<string, ResolvedSecret>() : await keeper.keep(box, wishes, signal);
  for (const { client, secret } of wishes) memory.generated.set(client, secret);
  return new Map([...resolved, ...kept]);
}

function wantedName({ object, judged: { secret } }: Candidate): string {
  return secretName(secret, object.name) ?? object.name;
}

function wishOf(one: Candidate, issuer: string): SecretWish {
  const { object, judged } = one;
  return {
    client: object.name,
    uid: object.uid,
    adopt: judged.adopt !== undefined,
    secret: wantedName(one),
    grants: judged.traits.kind === 'Client' ? judged.traits.grants : [],
    template: judged.secret.from === 'generated' ? judged.secret.template : undefined,
    facts: secretFacts(judged.id, issuer),
  };
}

/** In a namespace that is being deleted nothing can be made, and whoever tries is refused each time. */
function notMade(name: string): ResolvedSecret {
  return { state: 'missing', reason: 'SecretNotFound', message: `Secret ${name} is not made: the namespace is going` };
}

function notOwned(name: string): ResolvedSecret {
  const message = `Secret ${name} is declared by somebody else; give generateSecret.name another one`;
  return { state: 'missing', reason: 'SecretNotOwned', message };
}
