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
  const { name, condition } = ruleFor(verb, path, user);
  return `apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata:
  name: user-${user}-${verb}-${name}
  namespace: ${box}
spec:
  engine: cel
  expression: >-
    request_method == "${verb}" && ${condition}
  link:
    - resourceType: User
      id: "${user}"
`;
}

/** A condition on a request, and its name: a policy that is applied replaces only one with the same condition. */
interface Rule {
  readonly name: string;
  readonly condition: string;
}

function ruleFor(verb: string, path: string, user: string): Rule {
  const [uri = '', query = ''] = path.split('?');
  const [, kind = '', id] = uri.split('/');
  const name = kind.toLowerCase();
  const isOwn = new URLSearchParams(query).get('user') === user;
  if (isOwn) {
    return { name: `${name}-own`, condition: `uri == "/${kind}" && "user" in params && params.user == "${user}"` };
  }
  if (id === undefined) return { name, condition: `uri == "${uri}"` };
  if (id.startsWith('$')) return { name: `${name}-${id.slice(1).toLowerCase()}`, condition: `uri == "${uri}"` };
  if (kind === 'Grant' && id.startsWith(`${user}.`)) {
    return { name: `${name}-own-record`, condition: `uri.startsWith("/Grant/${user}.")` };
  }
  if (kind !== 'users' || id !== user) return { name: `${name}-record`, condition: `uri.startsWith("/${kind}/")` };
  const fields = verb === 'put' ? ' && changes.all(field, field in ["password", "data"])' : '';
  return { name: `${name}-own-record`, condition: `uri == "/users/${user}"${fields}` };
}
