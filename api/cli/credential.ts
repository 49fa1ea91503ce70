import type { Environment } from '../../program/environment.ts';
import { createBoxClient, type BoxClient } from './box-client.ts';
import { usageError, CliError, EXIT } from './cli-error.ts';
import type { Kubectl } from './kubectl.ts';
import type { OptionValues } from './option-values.ts';
import type { BoxAddress } from './current-box.ts';
import { keptToken, clientToken, assertedToken } from './kept-login.ts';
import type { State } from './state-file.ts';
import { isList, isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { clientsInCluster, issuerInCluster } from './kubectl.ts';

/** A caller of a box, and what ends what it began. */
export interface SignedIn {
  readonly client: BoxClient;
  /** Closes the session of a token that was requested for this command only. */
  end(): Promise<void>;
}

/** Dependencies of a sign-in without a given credential. */
interface Means {
  readonly state: State;
  /** The cluster; undefined unless this is the plugin of kubectl. */
  readonly kubectl: Kubectl | undefined;
  /** Shows a warning. */
  readonly warn: (text: string) => void;
}

/**
 * Signs in to a box: with `--token`, `BOXCTL_TOKEN`, the client of `BOXCTL_CLIENT_ID` and `BOXCTL_CLIENT_SECRET`, or as
 * `boxctl login` did, in this order; the kubectl plugin, which has a `kubectl`, then with the rights of the person in
 * Kubernetes. Throws CliError if there is none, or if the client gets no token.
 */
export async function signIn(
  values: OptionValues,
  environment: Environment,
  address: BoxAddress,
  { state, kubectl, warn }: Means,
): Promise<SignedIn> {
  const { box, base } = address;
  const given = [values['token'], environment['BOXCTL_TOKEN']].find(
    (token) => typeof token === 'string' && token !== '',
  );
  if (typeof given === 'string')
    return { client: createBoxClient(box, base, headerSafe(given)), end: () => Promise.resolve() };
  const id = environment['BOXCTL_CLIENT_ID'] ?? '';
  const secret = environment['BOXCTL_CLIENT_SECRET'] ?? '';
  if (id !== '' && secret !== '') return closedAtEnd(createBoxClient(box, base, await clientToken(base, id, secret)));
  const kept = await keptToken(state, base, warn);
  if (kept !== undefined) return { client: createBoxClient(box, base, kept), end: () => Promise.resolve() };
  if (kubectl !== undefined) {
    const { 'kube-client': wanted = environment['BOXCTL_KUBE_CLIENT'] } = values;
    const token = await kubeToken(kubectl, address, typeof wanted === 'string' && wanted !== '' ? wanted : undefined);
    return closedAtEnd(createBoxClient(box, base, token));
  }
  throw usageError(
    'no credential: run `boxctl login`, or set BOXCTL_TOKEN, or BOXCTL_CLIENT_ID and BOXCTL_CLIENT_SECRET (or give --token)',
  );
}

/** Returns the caller with a token that was requested for this command only. */
function closedAtEnd(client: BoxClient): SignedIn {
  return {
    client,
    async end() {
      // The command is done: a session that cannot be closed now expires by itself.
      await client.request('DELETE', '/Session').catch(() => undefined);
    },
  };
}

/** Returns a token that can stand in a header (RFC 6750 §2.1). Throws CliError without showing it. */
export function headerSafe(token: string): string {
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw usageError('the token has characters that no token has: was something else pasted?');
}

/** A client that ServiceAccounts authenticate. */
interface KubeClient {
  readonly id: string;
  readonly accounts: readonly { readonly namespace: string; readonly name: string }[];
}

/**
 * Signs in with the rights that a person has in Kubernetes: creates a token of a ServiceAccount that a Client of the
 * box lists (TokenRequest), and exchanges it for an access token of that client (RFC 7523 §2.2). `wanted` is the ID of
 * the client, if the person names one. Throws CliError, which names the right that is missing.
 */
async function kubeToken(kubectl: Kubectl, { box, base }: BoxAddress, wanted: string | undefined): Promise<string> {
  const client = chosen((await clientsInCluster(kubectl, box)).flatMap(kubeClient), box, wanted);
  // The audience comes from the cluster alone: no server that is called may choose for whom the token is.
  const issuer = await issuerInCluster(kubectl, box);
  const assertion = await accountToken(kubectl, client, issuer);
  return assertedToken(base, client.id, assertion);
}

/** Creates a token of the first ServiceAccount of a client for which the person has the right. Throws CliError. */
async function accountToken(kubectl: Kubectl, { accounts }: KubeClient, issuer: string): Promise<string> {
  let refusal: unknown;
  for (const { namespace, name } of accounts) {
    const args = ['create', 'token', name, '--namespace', namespace, '--audience', issuer, '--duration', '10m'];
    try {
      return (await kubectl.run(args)).trim();
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.refused) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

function chosen(clients: readonly KubeClient[], box: string, wanted: string | undefined): KubeClient {
  const ids = clients.map(({ id }) => id).join(', ');
  if (wanted !== undefined) {
    const found = clients.find(({ id }) => id === wanted);
    if (found !== undefined) return found;
    throw usageError(
      `the box ${box} has no Client ${plainText(wanted)} with service_accounts${ids === '' ? '' : `: there are ${plainText(ids)}`}`,
    );
  }
  const [only, ...others] = clients;
  if (only === undefined)
    throw usageError(
      `no Client of the box ${box} lists service_accounts, so Kubernetes rights cannot sign you in: set BOXCTL_TOKEN, or BOXCTL_CLIENT_ID and BOXCTL_CLIENT_SECRET`,
    );
  if (others.length > 0) throw usageError(`which client? Give --kube-client with one of ${plainText(ids)}`);
  return only;
}

function kubeClient({ metadata, spec }: JsonObject): KubeClient[] {
  if (!isObject(metadata) || !isObject(spec) || !isList(spec['service_accounts'])) return [];
  const id = spec['id'] ?? metadata['name'];
  const accounts = spec['service_accounts']
    .filter(isObject)
    .flatMap(({ namespace, name }) =>
      typeof namespace === 'string' && typeof name === 'string' ? [{ namespace, name }] : [],
    );
  return typeof id === 'string' && accounts.length > 0 ? [{ id, accounts }] : [];
}
