/** Meaning of a condition, and its status when all is well; `absent`: the condition exists only if it is true. */
interface ConditionMeaning {
  readonly well: 'True' | 'absent';
  readonly means: string;
}

/** Every type of condition. `Ready` sums up those of {@link HOLDING_BACK}; the others only inform. */
export const CONDITIONS = {
  Ready: { well: 'True', means: 'Every replica of the API enforces what the object declares.' },
  Valid: { well: 'True', means: 'The object follows all rules, including those that the API server cannot check.' },
  SecretReady: {
    well: 'True',
    means: 'Of a Client: its credentials exist. Of a Box: the password of its bootstrap_admin exists.',
  },
  Synced: { well: 'True', means: 'The API has the resource as it is declared.' },
  Granted: {
    well: 'True',
    means: 'Of a Client with client_credentials: a declared policy applies to it. Does not affect Ready.',
  },
  LinksResolved: {
    well: 'True',
    means: 'Of an AccessPolicy: all linked resources exist. Does not affect Ready.',
  },
  ServiceReady: {
    well: 'True',
    means:
      'Of a Box, and of a Client in a namespace without one: pods reach the box through the Service boxgate of its namespace. Does not affect Ready.',
  },
  Conflict: { well: 'absent', means: 'Something else has the id that the object declares.' },
  Stalled: {
    well: 'absent',
    means: 'Only a change of the object helps: tools that wait for it (kstatus: Flux, kpt) can stop waiting.',
  },
  InlineSecret: {
    well: 'absent',
    means: 'The object itself contains a secret; a Warning event of this name says so once.',
  },
  NoSubjects: { well: 'absent', means: 'The policy grants nobody.' },
  OpenToAll: { well: 'absent', means: 'The policy grants everybody.' },
  GrantsEverything: {
    well: 'absent',
    means: 'The rule of the policy has no condition, although its engine is not allow.',
  },
  NotInForce: {
    well: 'absent',
    means: 'Fields of the object have no effect, in this version or in this installation.',
  },
  OperatorOlder: {
    well: 'absent',
    means:
      'The custom resource definitions are newer than the operator, which does not know some fields of the object.',
  },
} as const satisfies Readonly<Record<string, ConditionMeaning>>;

/** A type of {@link CONDITIONS}. */
export type ConditionType = keyof typeof CONDITIONS;

/** Checks whether a word is one of {@link CONDITIONS}. */
export function isConditionType(word: unknown): word is ConditionType {
  return typeof word === 'string' && Object.hasOwn(CONDITIONS, word);
}

/** Conditions that hold `Ready` back, in order of precedence. */
export const HOLDING_BACK = ['Valid', 'Conflict', 'SecretReady', 'Synced'] as const satisfies readonly ConditionType[];

/** Every reason of a condition, with its meaning: the documented list. */
export const REASONS = {
  // Ready
  Ready: 'Every replica of the API enforces what the object declares.',
  Suspended: 'The object has suspend: true. Its resource stays in force as it is.',
  FinalizerRefused:
    'The API server refuses to let the operator add or remove its finalizer; the message has its sentence. The operator tries again every few seconds.',
  Terminating: 'The object is being deleted; finalizers of others hold it.',
  // Valid
  Accepted: 'The object follows every rule of its kind.',
  NewerFields:
    'The object has fields that this operator does not know: they are ignored, and a policy that has one grants nothing.',
  Invalid: 'The object breaks a rule. A client stays as it was; a policy whose rule cannot be used grants nothing.',
  TooLarge: 'The object is larger than the limit in the message. What was applied before stays in force.',
  QuotaExceeded: 'The box has as much as its quota allows, and the object is one of the youngest.',
  DatabaseUnknown:
    'The annotation boxgate.dev/database of the Namespace names no database of the installation: nothing new of the box is applied.',
  // SecretReady
  SecretFound: 'The secret is in the Secret that the object names.',
  SecretGenerated: 'The secret was generated and is in its Secret.',
  SecretInline: 'The object itself contains the secret.',
  SecretNotNeeded: 'Keys or ServiceAccounts authenticate the client, or it is public.',
  SecretNotFound:
    'There is no Secret of that name. A client keeps its last secret; of a Box only the bootstrap_admin waits.',
  SecretKeyNotFound: 'The Secret has no entry of that name.',
  SecretNotLabelled: 'The Secret lacks the label boxgate.dev/client-secret: "true".',
  SecretNotAllowed: 'The Secret is a ServiceAccount token and cannot be used as a client secret.',
  SecretNotUsable:
    'The value is not a valid client secret: 1 to 1024 visible ASCII characters and blanks (RFC 6749 appendix A.2). A password may have other letters, up to 4096 bytes.',
  ServiceAccountDeleted:
    'A ServiceAccount of the client was deleted, or none has the uid of an entry. Its tokens are refused; if it had any, all tokens of the client are revoked.',
  ServiceAccountRecreated: 'The same, and another ServiceAccount has its name, which is not accepted automatically.',
  ServiceAccountsNotServed:
    'Only ServiceAccounts authenticate the client, and the keys that verify their tokens are not known here.',
  JwksHostNotListed: 'The setting BOXGATE_JWKS_HOSTS of the API does not list the host of jwks_uri.',
  SecretNotMade: 'The secret is generated once the object can be applied.',
  SecretNotOwned: 'A Secret with the name of the generated one exists and has another owner, or another type.',
  SecretForbidden: 'The operator has no rights on the Secrets of the namespace.',
  SecretNotRead: 'The Secrets of the namespace could not be read yet.',
  SecretRefused: 'The API server rejects the generated Secret; the message says why.',
  NamespaceTerminating: 'The namespace is being deleted: no Secret can be created in it.',
  // Synced
  Applied: 'The API has the resource as it is declared.',
  Rejected: 'The API rejects the resource as it is declared.',
  Waiting: 'The resource is applied when the thing that it waits for exists.',
  Unavailable: 'The API or its database cannot be reached; the operator retries.',
  DataMissing:
    'The database of the box was restored from a backup: the box is not served before an admin accepts what is left of it.',
  NotApplied: 'An error that the message names; the operator retries.',
  DeletionWaits:
    'The object is being deleted and may still be in force, because the API cannot be reached or a pass failed. It waits for at most BOXGATE_HOLD_SECONDS.',
  // Granted
  PolicyLinked: 'At least one declared policy grants the client something.',
  NoPolicy: 'No declared policy applies to the client: it can get tokens, but the endpoints of the box refuse them.',
  // LinksResolved
  AllFound: 'All resources that the policy links exist.',
  DanglingLinks: 'A resource that the policy links does not exist yet.',
  // ServiceReady
  ServiceCreated: 'The Service boxgate of the namespace leads to the API.',
  ServiceForbidden:
    'The operator has no rights on the Service boxgate of the namespace. The message has the command that grants them, and an address that works without it.',
  ServiceNotOwned:
    'A Service boxgate exists that lacks the label app.kubernetes.io/managed-by: boxgate. The operator leaves it unchanged.',
  ServiceRefused: 'The API server rejects the Service boxgate; the message says why.',
  // Conflict
  OwnedByAnother: 'The ID already exists: created over REST, retained, or declared by another object.',
  DeclaredTwice: 'Another, older object declares the same ID and has it.',
  NamespaceRecreated: 'The namespace was created again: the data of the former one is locked until an admin decides.',
  HostNotGranted: 'The Namespace does not grant a host, or an issuer on one.',
  HostConflict: 'Another, older box has the host.',
  // InlineSecret, NoSubjects, OpenToAll, GrantsEverything, NotInForce
  SecretInManifest: 'A secret in plain text is for development only: prefer secretRef or a generated one.',
  NobodyLinked: 'The policy applies to linked subjects only and links none: it grants nobody.',
  GrantsEverybody: 'A rule without a condition, with subjects: anyone, grants every request, even without a token.',
  NoCondition: 'A rule such as matcho: {} or schema: {} grants every request of the subjects.',
  MetadataNotPermitted:
    'The Namespace does not permit labels or annotations of the generated Secret by their exact keys.',
  WithoutEffect: 'The object has fields that this version accepts but does not implement.',
  RefreshNotEnabled: 'The client lists refresh_token, and no grant of it issues refresh tokens.',
  QuotaNotReadable: 'The annotation boxgate.dev/quota has a mistake: the box keeps the quotas that it had.',
  Moving:
    'The annotation boxgate.dev/database of the Namespace names another database than the one that the box is in, and still serves from.',
} as const;

/** A reason of {@link REASONS}. */
export type Reason = keyof typeof REASONS;

/** Next step for each reason, as the end of its message; empty if there is nothing to do. */
export const NEXT_STEPS: Readonly<Record<Reason, string>> = {
  // Ready
  Ready: '',
  Suspended: 'Remove spec.suspend to apply the object again',
  FinalizerRefused: 'Change the object or the admission rule that the message names; the operator tries again',
  // Only those who set the finalizers can remove them.
  Terminating: '',
  // Valid
  Accepted: '',
  NewerFields: 'Update the operator to the release of the definitions',
  Invalid: 'Correct what is named and apply the object again',
  TooLarge: 'Make it smaller and apply it again',
  // The message says what to do.
  QuotaExceeded: '',
  DatabaseUnknown: 'A cluster admin corrects the annotation boxgate.dev/database of the Namespace',
  // SecretReady
  SecretFound: '',
  SecretGenerated: '',
  SecretInline: '',
  SecretNotNeeded: '',
  SecretNotFound: 'Create it in this namespace with the label boxgate.dev/client-secret: "true", or name another one',
  SecretKeyNotFound: 'Add the entry, or name another one in the object',
  SecretNotLabelled: 'Whoever owns the Secret adds the label boxgate.dev/client-secret: "true" to its metadata',
  SecretNotAllowed: 'Name another Secret in the object',
  SecretNotUsable: 'Write another value into the Secret',
  ServiceAccountDeleted: 'Create it again and give its new uid in spec.service_accounts, or take the entry out',
  ServiceAccountRecreated: 'Give its uid in spec.service_accounts if it is yours, or take the entry out',
  ServiceAccountsNotServed:
    'Give jwks, spec.secretRef or spec.generateSecret; in a cluster it ends when the operator can read the keys of the API server',
  JwksHostNotListed:
    'List the host in BOXGATE_JWKS_HOSTS of the API, or give jwks, spec.secretRef or spec.generateSecret instead',
  SecretNotMade: 'See the conditions Ready and Conflict',
  SecretNotOwned: 'Give spec.generateSecret.name another name, or delete that Secret if nobody needs it',
  // The command is in the message.
  SecretForbidden: '',
  SecretNotRead: 'Look at the API server if this lasts',
  SecretRefused: 'Look at the quotas and admission rules of the namespace, and at spec.generateSecret',
  NamespaceTerminating: 'Nothing: the object is deleted with its namespace',
  // Synced
  Applied: '',
  Rejected: 'See the conditions Valid and Conflict',
  Waiting: 'It is applied by itself as soon as that is there',
  Unavailable: 'Look at the API and its Postgres if this lasts',
  // The message says what to do.
  DataMissing: '',
  NotApplied: 'Look at the log of the operator if this lasts',
  // The message says what happens next.
  DeletionWaits: '',
  // Granted
  PolicyLinked: '',
  NoPolicy: 'If it should call them, apply an AccessPolicy whose spec.link names this client',
  // LinksResolved
  AllFound: '',
  DanglingLinks: 'Apply or create what is missing, or take the link away; the order does not matter',
  // ServiceReady
  ServiceCreated: '',
  // The command is in the message.
  ServiceForbidden: '',
  ServiceNotOwned: 'Delete it if nobody needs it, or give it the label app.kubernetes.io/managed-by: boxgate',
  ServiceRefused: 'Look at the quotas and admission rules of the namespace',
  // Conflict
  OwnedByAnother:
    'Delete the other one, take it over with spec.adoption where nobody owns it, or create this object with another id',
  DeclaredTwice: 'Delete one of them; the other then gets the id',
  NamespaceRecreated: 'An admin annotates the Namespace with one of the two; it takes effect immediately',
  HostNotGranted: 'An admin grants it on the Namespace, or it is taken out of the Box',
  HostConflict: 'Remove the host from one of the two',
  // InlineSecret, NoSubjects, OpenToAll, GrantsEverything, NotInForce
  SecretInManifest: 'Set spec.secretRef instead, or nothing: then a secret is generated',
  NobodyLinked: 'Set spec.link, or another spec.subjects',
  GrantsEverybody: 'Set another spec.subjects if that is not intended',
  NoCondition: 'Give the rule a condition, or use engine: allow if that is intended',
  MetadataNotPermitted: 'An admin permits them on the Namespace, or they are taken out of spec.generateSecret',
  WithoutEffect: 'Remove them, or keep them for the version that implements them',
  RefreshNotEnabled:
    'Set refresh_token: true in the settings of a listed grant, such as spec.auth.authorization_code, or remove the entry',
  QuotaNotReadable:
    'A cluster admin corrects the annotation, such as clients=20000,users=5000; it takes effect at once',
  Moving: 'Look at the log of the operator if this lasts',
};
