import { issuerOf } from '../desired/candidates.ts';
import { contests, desiredOf, type Candidate, type Desired } from '../desired/desired.ts';
import { mayInherit, generatedSecrets } from '../secrets/generated-secrets.ts';
import type { SecretNeeds } from '../desired/source.ts';
import { recordInlineSecrets } from '../status/events.ts';
import type { SecretCache } from '../secrets/keeper.ts';
import { resolveSecret, type ResolvedSecret, type SecretFinder } from '../secrets/resolve.ts';
import { isTerminating, type BoxPass } from './box-pass.ts';

/** Returns the desired state of a box, with its secrets. Facts about an unchanged object are taken from the cache. */
export async function desiredState(pass: BoxPass): Promise<readonly Desired[]> {
  const { box, listing, candidates, known, cache, context } = pass;
  const losers = contests(candidates, cache.stored.rows);
  const issuer = issuerOf(candidates) ?? context.defaultIssuer(box);
  const { find, generated } = await secretsOf(pass, losers, issuer);
  recordInlineSecrets(box, candidates, known, context.events);
  const desired = candidates.map(({ object, validated }) => {
    const secret = resolveSecret(validated.secret, object.name, find, generated);
    const undigested = { object, validated, secret, loses: losers.get(object.key) };
    return desiredOf(undigested, known.get(object.key), context.digestKey);
  });
  const objects = new Map(desired.map((one) => [one.object.key, one]));
  cache.declared = { objects, definitions: listing.definitions, issuer };
  return desired;
}

/** Secrets that objects refer to, and generated ones by the name of their Client. */
interface FoundSecrets {
  readonly find: SecretFinder;
  readonly generated: ReadonlyMap<string, ResolvedSecret>;
}

async function secretsOf(pass: BoxPass, losers: ReadonlyMap<string, string>, issuer: string): Promise<FoundSecrets> {
  const { box, scope, listing, candidates, known, cache, context, signal } = pass;
  const { source } = context;
  const { find, isTaken } = await source.boxSecrets(box, needsOf(candidates, cache.secrets), signal);
  const generated = await generatedSecrets(pass.secrets, {
    wanting: candidates.filter((one) => wantsGenerated(one) && !losers.has(one.object.key)),
    lookAtAll: scope === 'everything' || cache.declared.issuer !== issuer,
    issuer,
    inClusterTokenUrl: context.inClusterTokenUrl?.(box),
    isTaken,
    known,
    rows: cache.stored.rows,
    isTerminating: isTerminating(pass),
    mayInherit: mayInherit(context.adopts, listing.tenancy?.claim),
    lastUses: () => pass.api.lastUses(),
    hadGeneratedSecret: (client, secret) => source.hadGeneratedSecret?.(client, secret) === true,
    now: context.now().getTime(),
  });
  return { find, generated };
}

function needsOf(candidates: readonly Candidate[], secrets: SecretCache): SecretNeeds {
  const referred = new Set<string>();
  let generated = secrets.generated.size > 0;
  for (const { validated } of candidates) {
    if (validated.secret.from === 'reference') referred.add(validated.secret.name);
    else if (validated.secret.from === 'generated') generated = true;
  }
  return { referred, generated };
}

function wantsGenerated({ validated }: Candidate): boolean {
  return validated.secret.from === 'generated' && !validated.suspended;
}
