import type { Client, ServiceAccount } from '../../../crds/client.ts';
import { pinServiceAccount, repinServiceAccount } from '../../db/client-auth/service-account-pin.ts';
import type { AuthenticationContext } from './context.ts';
import { refusedAssertion } from './client-auth-request.ts';
import type { ClientAssertion } from './client-auth-request.ts';
import { notAuthenticated } from '../oauth-error.ts';
import { reportReuse } from '../report-reuse.ts';
import type { OAuthError } from '../oauth-error.ts';
import type { VerifiedClaims } from './verify-assertion.ts';

/** Maximum seconds from the issue of a token to its end: one that lives for years is a secret, not a proof. */
const longestToken = 24 * 3600;

/**
 * Authenticates a client by the projected token of a ServiceAccount that its `service_accounts` lists: signed by the
 * cluster that declares the client, made only for the issuer of this box, and of the ServiceAccount that the entry is
 * pinned to. Throws OAuthError `invalid_client`, Outage.
 */
export async function proveServiceAccount(
  assertion: ClientAssertion & { readonly serviceAccount: ServiceAccount },
  client: Client,
  context: AuthenticationContext,
): Promise<void> {
  const { state, statements, services } = context;
  const { serviceAccount } = assertion;
  if (client.service_accounts === undefined) throw notAuthenticated('wrong_assertion', client.id);
  const entry = { box: state.box, client: client.id, ...serviceAccount };
  // This also reads the version of the cluster's settings: keys that were removed before this request are not used.
  const known = await statements.serviceAccount(entry);
  const by = known && (await services.clusterSettings.issuer(known.cluster, known.version));
  if (known === undefined || by === undefined) {
    throw refusedAssertion('No cluster has told this server who makes the tokens of its ServiceAccounts');
  }
  const now = services.now();
  const { text, subject } = assertion;
  const claims = await services.serviceAccountTokens.verify(text.reveal(), subject, by, now);
  if (claims === undefined) throw notAuthenticated('wrong_assertion', client.id);
  checkClaims(claims, services.issuer(state));
  const listed = entryOf(client, serviceAccount);
  if (listed === undefined) throw refusedAssertion('This ServiceAccount does not authenticate the client');
  const uid = uidOf(claims, serviceAccount);
  if (known.isGone && uid === known.uid) throw deleted();
  const presented = { entry, uid, pinned: known.uid };
  if (listed.uid === undefined) await checkPin(presented, context);
  else await checkDeclaredUid(presented, listed.uid, context);
}

function checkClaims({ aud = [], exp, iat }: VerifiedClaims, issuer: string): void {
  const audience: readonly unknown[] = typeof aud === 'string' ? [aud] : aud;
  if (audience.length !== 1 || audience[0] !== issuer) {
    throw refusedAssertion(
      'The audience of the ServiceAccount token must be the issuer of this server, and nobody else',
    );
  }
  if (iat === undefined || exp - iat > longestToken) {
    throw refusedAssertion(`The ServiceAccount token must live for ${String(longestToken)} seconds at most`);
  }
}

function entryOf({ service_accounts = [] }: Client, { namespace, name }: ServiceAccount): ServiceAccount | undefined {
  return service_accounts.find((one) => one.namespace === namespace && one.name === name);
}

/** Returns the ServiceAccount's uid of a bound token; without one it could be of any ServiceAccount of that name. */
function uidOf(claims: VerifiedClaims, { namespace, name }: ServiceAccount): string {
  const bound = member(claims, 'kubernetes.io');
  const account = member(bound, 'serviceaccount');
  const uid = member(account, 'uid');
  const isOfName = member(bound, 'namespace') === namespace && member(account, 'name') === name;
  if (isOfName && typeof uid === 'string' && /^[\x21-\x7e]{1,128}$/.test(uid)) return uid;
  throw refusedAssertion(
    'The ServiceAccount token does not say which ServiceAccount it is of: it must be a projected one',
  );
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

type Entry = Parameters<typeof pinServiceAccount>[1];

/** A ServiceAccount that an entry of a client names: the uid in its token, and the uid that the entry is pinned to. */
interface PresentedAccount {
  readonly entry: Entry;
  readonly uid: string;
  readonly pinned: string | undefined;
}

/** Pins the first ServiceAccount that comes: one that is created again under its name is a stranger. */
async function checkPin({ entry, uid, pinned }: PresentedAccount, context: AuthenticationContext): Promise<void> {
  const counts = pinned ?? (await context.transaction((connection) => pinServiceAccount(connection, entry, uid)));
  if (counts !== uid) throw madeAgain(entry, context);
}

/** Pins the ServiceAccount that the client declares; the pin stays even when the client no longer declares it. */
async function checkDeclaredUid(
  { entry, uid, pinned }: PresentedAccount,
  declared: string,
  context: AuthenticationContext,
): Promise<void> {
  if (declared !== uid) throw madeAgain(entry, context);
  if (pinned === uid) return;
  const isGone = await context.transaction((connection) => repinServiceAccount(connection, entry, uid));
  if (isGone) throw deleted();
}

function deleted(): OAuthError {
  return refusedAssertion('This ServiceAccount was deleted: its tokens do not count');
}

function madeAgain({ client }: Entry, context: AuthenticationContext): OAuthError {
  reportReuse({ event: 'service_account.created_again', client, by: {} }, context);
  return refusedAssertion(
    'This ServiceAccount was created again since the client first knew it: give its uid in the entry of service_accounts to accept it',
  );
}
