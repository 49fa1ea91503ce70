import type { Environment } from '../../program/environment.ts';
import { createBoxClient, type BoxClient } from './box-client.ts';
import { usageError } from './cli-error.ts';
import { kubeToken } from './kube/kube-sign-in.ts';
import type { Kubectl } from './kubectl.ts';
import type { OptionValues } from './option-values.ts';
import type { BoxAddress } from './current-box.ts';
import { keptToken, clientToken } from './kept-login.ts';
import type { State } from './state-file.ts';

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
