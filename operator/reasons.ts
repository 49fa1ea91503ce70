/** Types of conditions. `Ready` sums up; `Granted` and `LinksResolved` inform and do not hold it back. */
export const CONDITION_TYPES = [
  'Ready',
  'Valid',
  'SecretReady',
  'Synced',
  'Granted',
  'LinksResolved',
  'Conflict',
  'Stalled',
  'InlineSecret',
  'NoSubjects',
  'OpenToAll',
  'NotInForce',
] as const;

/** One of {@link CONDITION_TYPES}. */
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** Every reason a condition can have, and what it means: the documented list. */
export const REASONS = {
  // Ready
  Ready: 'What is declared is what every replica of the API enforces.',
  Suspended: 'The object says suspend: true. Its resource is left as it is, and the service goes on.',
  // Valid
  Accepted: 'The object keeps every rule of its kind.',
  Invalid:
    'The object breaks a rule. A client stays as it was before; a policy whose rule cannot be used grants nothing.',
  // SecretReady
  SecretFound: 'The secret is in the Secret that secretRef names.',
  SecretGenerated: 'The secret was generated and is in its Secret.',
  SecretInline: 'The secret stands in the object itself.',
  SecretNotNeeded: 'The client authenticates without a secret, or is a public client.',
  SecretNotFound: 'There is no Secret of that name in the box; the client waits, or goes on with its last secret.',
  SecretKeyNotFound: 'The Secret has no entry of that name.',
  SecretNotLabelled:
    'The Secret lacks the label boxgate.dev/client-secret: "true", by which its owner lets clients use it.',
  SecretNotAllowed: 'The Secret is a ServiceAccount token, which is nobody’s client secret.',
  SecretNotUsable:
    'The value is no client secret: 1 to 1024 visible ASCII characters and blanks (RFC 6749 appendix A.2).',
  CredentialNotSupported: 'The client has keys or service accounts and no secret: this version cannot authenticate it.',
  SecretNotOwned: 'A Secret of the name that is to be generated exists and belongs to somebody else.',
  // Synced
  Applied: 'The API has the resource as it is declared.',
  Rejected: 'The API does not take the resource as it is declared.',
  Waiting: 'The resource is applied when what it waits for is there.',
  Unavailable: 'It could not be applied, because the API or its database is away; tried again until it can.',
  // Granted
  PolicyLinked: 'At least one declared policy grants the client something.',
  NoPolicy: 'No declared policy concerns the client: it gets tokens, and no access with them.',
  // LinksResolved
  AllFound: 'Everything that the policy links is there.',
  DanglingLinks: 'Something that the policy links is not there (yet); it is granted when it comes.',
  // Conflict
  OwnedByAnother: 'The id was there before: made over REST, retained, or declared by another object.',
  DeclaredTwice: 'An older object declares the same id.',
  // InlineSecret, NoSubjects, OpenToAll, NotInForce
  SecretInManifest: 'A secret in plain text is for development only: prefer secretRef or a generated one.',
  NobodyLinked: 'The policy concerns linked subjects only and links none: it grants nobody.',
  GrantsEverybody: 'Engine allow with subjects: anyone grants every request, also without a token.',
  WithoutEffect: 'The object has fields that this version accepts and does nothing with.',
} as const;

/** A reason of {@link REASONS}. */
export type Reason = keyof typeof REASONS;
