import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { plainText } from '../../../program/text.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { BoxAddress } from '../current-box.ts';
import { clientsInCluster, issuerInCluster } from '../kubectl.ts';
import { assertedToken } from '../kept-login.ts';
import type { Kubectl } from '../kubectl.ts';

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
export async function kubeToken(
  kubectl: Kubectl,
  { box, base }: BoxAddress,
  wanted: string | undefined,
): Promise<string> {
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
