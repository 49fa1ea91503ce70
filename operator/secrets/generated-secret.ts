import { SECRET_ENTRIES } from '../../crds/kubernetes-fields.ts';

/** Values that a generated Secret gives an application, in addition to the secret itself. */
export interface SecretFacts {
  readonly client_id: string;
  readonly issuer: string;
  readonly token_url: string;
  readonly in_cluster_token_url: string;
  readonly jwks_url: string;
}

type Values = SecretFacts & { readonly client_secret: string };

/**
 * Returns a client's id and the addresses of its box, as in the discovery document (RFC 8414 §3.2). Without a cluster
 * there is no other token URL inside of it.
 */
export function secretFacts(clientId: string, issuer: string, inClusterTokenUrl = `${issuer}/auth/token`): SecretFacts {
  return {
    client_id: clientId,
    issuer,
    token_url: `${issuer}/auth/token`,
    in_cluster_token_url: inClusterTokenUrl,
    jwks_url: `${issuer}/.well-known/jwks.json`,
  };
}

/**
 * Returns the entries of a generated Secret: the usual six, or those of a template with its placeholders replaced. A
 * template that never mentions the secret gets it as `client_secret`, or it would be lost.
 */
export function secretEntries(
  template: Readonly<Record<string, string>> | undefined,
  facts: SecretFacts,
  clientSecret: string,
): ReadonlyMap<string, string> {
  const values: Values = { ...facts, client_secret: clientSecret };
  if (template === undefined) return new Map(SECRET_ENTRIES.map((name) => [name, values[name]]));
  const entries = new Map(Object.entries(template).map(([name, text]) => [name, filled(text, values)]));
  if (![...entries.values()].some((text) => text.includes(clientSecret))) entries.set('client_secret', clientSecret);
  return entries;
}

function filled(text: string, values: Values): string {
  return text.replace(/\{\{ ?(\w+) ?\}\}/g, (whole, word: string) => {
    const name = SECRET_ENTRIES.find((known) => known === word);
    return name === undefined ? whole : values[name];
  });
}
