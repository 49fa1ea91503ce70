import type { AuthorizationAnswer, StoredAnswer } from './authorization/authorization-answer.ts';
import type { Consent } from './authorization/consent.ts';

/** A session about to be stored. Times in seconds since 1970; `hash` is null for a JWT. */
export interface NewSession {
  readonly box: string;
  /** The config version it was decided under: it is stored only if the box is still there. */
  readonly version: number;
  /** 32 hexadecimal digits of a UUIDv7. */
  readonly id: string;
  readonly bucket: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  readonly client: string;
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string | null;
  readonly remoteAddr: string | null;
  readonly user: number | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly userAgent: string | null;
}

/** The grant a session came from, as its column holds it. */
export type GrantLetter = 'c' | 'r' | 'i' | 'a' | 'p';

/** A grant that starts a session: a refreshed session came from the grant of its family. */
export type FirstGrant = Exclude<GrantLetter, 'r'>;

/** Key of a session: found only if the hash is that of its token (null: a JWT's). */
export interface SessionKey {
  readonly box: string;
  readonly bucket: number;
  readonly id: string;
  readonly hash: string | null;
}

/** The user of a session, as it is now. */
export interface Person {
  readonly id: number;
  /** The email as given. */
  readonly email: string;
  /** JSON text. */
  readonly data: string | null;
  /** Current groups, by id; null if there are none. */
  readonly groups:
    readonly { readonly id: number; readonly name: string; readonly description: string | null }[] | null;
}

/** Result of the check statement for a session. Times in seconds since 1970. */
export interface FoundSession {
  readonly version: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  /** The grant that it came from; for a refreshed session, its family's, or null without one. */
  readonly grant: FirstGrant | null;
  readonly client: string;
  /** Null for a client's own session; also null, with `ended` true, for a user's session that is no longer valid. */
  readonly user: Person | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly family: string | null;
  readonly ended: boolean;
}

/** Key of a refresh family: found only by a token of its own. */
export interface FamilyKey {
  readonly box: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the part that its tokens share, 64 hexadecimal digits. */
  readonly hash: string;
}

/** One use of an assertion by a request. */
export interface AssertionUse {
  readonly box: string;
  readonly client: string;
  /** SHA-256 of its jti, 64 hexadecimal digits. */
  readonly jti: string;
  /** UUID of the request: the same request may use it again when it decides again. */
  readonly request: string;
  /** Seconds since 1970 after which no replica accepts it. */
  readonly expiresAt: number;
}

/** An entry of a client's `service_accounts`; each part as the schema has it, so that none needs to be quoted. */
export interface EntryKey {
  readonly box: string;
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
}

/** Stored data about an {@link EntryKey}. */
export interface KnownEntry {
  /** Cluster of the ServiceAccount; `version` is that of the cluster's settings. */
  readonly cluster: string;
  readonly version: number;
  /** UID of the ServiceAccount that has been seen; undefined: none yet. */
  readonly uid: string | undefined;
  /** True if the cluster has reported this ServiceAccount as deleted. */
  readonly isGone: boolean;
}

/** Key of a sign-in, and of its user's consent for a client. */
export interface SignInKey {
  readonly box: string;
  /** SHA-256 of the text in the browser's cookie, 64 hexadecimal digits. */
  readonly browser: string;
  readonly client: string;
  /** Key of the target of the consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** A sign-in of a user who may still use it, expired or not; times in milliseconds since 1970. */
export interface FoundSignIn {
  readonly user: number;
  /** The config version it began under. */
  readonly version: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The consent of the user at this target; undefined: none yet. */
  readonly consent: Consent | undefined;
}

/** A code about to be stored. */
export interface NewCode extends AuthorizationAnswer {
  readonly box: string;
  readonly hash: string;
  readonly keptUntil: number;
  /** The version of the sign-in that it is for: the code is stored only if that sign-in still exists. */
  readonly signInVersion: number;
  /** The version of its consent: stored only if that still covers the scope; null: none is needed. */
  readonly consentVersion: number | null;
  /** Key of the target of that consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** Key of a code; the hash in its row shows whether the caller knows the code. */
export interface CodeKey {
  readonly box: string;
  /** A UUID. */
  readonly id: string;
}

/** A code as stored. */
export type FoundCode = Omit<StoredAnswer, 'browser' | 'tokens'>;

/** A code about to be redeemed, and the session that results from it, without a family. */
export interface Redemption {
  readonly code: { readonly id: string; readonly hash: string };
  readonly session: NewSession & { readonly user: number };
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** An answer and the config version of its box at that moment; version undefined if there is no such box. */
export interface Versioned<T> {
  readonly version: number | undefined;
  readonly value: T;
}

/** The statements of the token and check paths. Each throws Outage when Postgres cannot answer soon. */
export interface BatchedStatements {
  /** Stores a session if its box is still at its version: compare it with the returned version. */
  issue(session: NewSession): Promise<number | undefined>;
  check(key: SessionKey): Promise<Versioned<FoundSession | undefined>>;
  /** Checks whether such a family exists and has not ended. */
  family(key: FamilyKey): Promise<Versioned<boolean>>;
  version(box: string): Promise<number | undefined>;
  /** Checks whether this request is the first to use the assertion. */
  useAssertion(use: AssertionUse): Promise<boolean>;
  /** The value is undefined if no user is signed in there, or the user may no longer be. */
  signIn(key: SignInKey): Promise<Versioned<FoundSignIn | undefined>>;
  /**
   * Stores a code if its box is at its version and the data it was decided on has not changed; returns whether it did.
   * It never waits, so false may only mean that a change was in progress: then a transaction decides.
   */
  storeCode(code: NewCode): Promise<boolean>;
  code(key: CodeKey): Promise<Versioned<FoundCode | undefined>>;
  /** Uses a code and stores its session, if its box is at the session's version and the code is valid; as above. */
  redeem(redemption: Redemption): Promise<boolean>;
  /** Undefined if there is no such client, or no cluster that it belongs to. */
  serviceAccount(key: EntryKey): Promise<KnownEntry | undefined>;
}
