/** The common policies, the narrowest first. */
export const COMMON_POLICIES = ['read', 'paths', 'everything'] as const;

/** Kinds of records that a policy may let a client read, by their paths. */
export const RECORD_PATHS = ['users', 'Group', 'Client', 'AccessPolicy', 'Session', 'Grant', 'AuditEvent'] as const;

/** Request for one of {@link COMMON_POLICIES}. */
export interface PolicyRequest {
  readonly sort: (typeof COMMON_POLICIES)[number];
  /** One of {@link RECORD_PATHS}, for `read`. */
  readonly record: string;
  /** Name of an app behind a gateway and a path of it, for `paths`. */
  readonly app: string;
  readonly path: string;
}

/** Returns the policy that grants a client what is wanted, and no more. */
export function commonPolicy(client: string, { sort, record, app, path }: PolicyRequest) {
  const link = [{ resourceType: 'Client', id: client }];
  switch (sort) {
    case 'read':
      return {
        id: policyId(client, 'read', record),
        engine: 'cel',
        expression: `request_method in ["get", "head"] && ${below(`/${record}`)}`,
        link,
      };
    case 'paths':
      return { id: policyId(client, app, path), engine: 'cel', expression: below(path), apps: [app], link };
    case 'everything':
      return { id: policyId(client, 'everything'), engine: 'allow', link };
  }
}

/** Returns the condition that a request is to a path or to one below it. */
function below(path: string): string {
  const plain = path.replace(/\/+$/, '');
  return plain === '' ? 'true' : `(uri == ${JSON.stringify(plain)} || uri.startsWith(${JSON.stringify(`${plain}/`)}))`;
}

/** Returns an ID that says what the policy does (crds/fields.ts: RESOURCE_ID). */
function policyId(...words: readonly string[]): string {
  const text = words.join('-').replaceAll(/[^A-Za-z0-9._~-]+/g, '-');
  return text.replaceAll(/-+/g, '-').replace(/-$/, '').slice(0, 128);
}
