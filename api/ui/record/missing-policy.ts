/** A refused request, and the user who sent it. */
export interface Refused {
  readonly method: string;
  /** Path below the box, possibly with a query. */
  readonly path: string;
  readonly box: string;
  readonly user: string;
}

/**
 * Returns a manifest of an AccessPolicy that lets one user send this kind of request, and no other. A request for the
 * user's own records is granted for those only.
 */
export function missingPolicy({ method, path, box, user }: Refused): string {
  const verb = method.toLowerCase();
  const [, kind = ''] = path.replace(/\?.*/s, '').split('/');
  const name = `user-${user}-${verb}-${kind.toLowerCase()}`;
  return `apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata:
  name: ${name}
  namespace: ${box}
spec:
  engine: cel
  expression: >-
    request_method == "${verb}" && ${condition(verb, path, user)}
  link:
    - resourceType: User
      id: "${user}"
`;
}

function condition(verb: string, path: string, user: string): string {
  const [uri = '', query = ''] = path.split('?');
  const [, kind = '', id] = uri.split('/');
  const isOwn = new URLSearchParams(query).get('user') === user;
  if (isOwn) return `uri == "/${kind}" && "user" in params && params.user == "${user}"`;
  if (id === undefined || id.startsWith('$')) return `uri == "${uri}"`;
  if (kind === 'Grant' && id.startsWith(`${user}.`)) return `uri.startsWith("/Grant/${user}.")`;
  if (kind !== 'users' || id !== user) return `uri.startsWith("/${kind}/")`;
  const fields = verb === 'put' ? ' && changes.all(field, field in ["password", "data"])' : '';
  return `uri == "/users/${user}"${fields}`;
}
