import type { AuthorizationAnswer, StoredAnswer } from './authorization-answer.ts';
import type { Consent } from './consent.ts';

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

/** A grant that begins something: a refreshed session came from the grant of its family. */
export type FirstGrant = Exclude<GrantLetter, 'r'>;

/** Which session is asked for: found only when the hash is that of its token (null: a JWT's). */
export interface SessionKey {
  readonly box: string;
  readonly bucket: number;
  readonly id: string;
  readonly hash: string | null;
}

/** The user of a session, as it is now. */
export interface Person {
  readonly id: number;
  /** As it was given. */
  readonly email: string;
  /** JSON text. */
  readonly data: string | null;
  /** Those it is in now, by id; null when there are none. */
  readonly groups:
    readonly { readonly id: number; readonly name: string; readonly description: string | null }[] | null;
}

/** What the check statement knows of a session. Times in seconds since 1970. */
export interface FoundSession {
  readonly version: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  /** The grant that it came from; of a refreshed session, its family's, and null without one. */
  readonly grant: FirstGrant | null;
  readonly client: string;
  /** Null for a client's own session; of a user's session that counts no more too, and then it has ended. */
  readonly user: Person | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly family: string | null;
  readonly ended: boolean;
}

/** Which refresh family is asked for: found only by a token of its own. */
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
  /** UUID of the request: the same one may use it again, when it decides again. */
  readonly request: string;
  /** Seconds since 1970 after which no replica takes it for valid. */
  readonly expiresAt: number;
}

/** An entry of a client's `service_accounts`; each part as the schema has it, so that none needs to be quoted. */
export interface EntryKey {
  readonly box: string;
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
}

/** What Postgres knows of an {@link EntryKey}. */
export interface KnownEntry {
  /** Whose ServiceAccount it is, and the version of what is known of that cluster. */
  readonly cluster: string;
  readonly version: number;
  /** Of the ServiceAccount that has been seen; undefined: none yet. */
  readonly uid: string | undefined;
  /** The cluster has said that this one was deleted. */
  readonly isGone: boolean;
}

/** Whose sign-in is asked for, and whose consent for which client. */
export interface SignInKey {
  readonly box: string;
  /** SHA-256 of the text in the browser's cookie, 64 hexadecimal digits. */
  readonly browser: string;
  readonly client: string;
  /** Key of the target of the consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** A sign-in of somebody who may still use it, whether or not it has expired; times in milliseconds since 1970. */
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
  /** The version of the sign-in that it is for: it is stored only if that is still there. */
  readonly signInVersion: number;
  /** The version of the consent that it is given by: stored only if that still covers the scope; null: none is needed. */
  readonly consentVersion: number | null;
  /** Key of the target of that consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** Which code is asked for; whether the one who asks knows it, the hash in its row tells. */
export interface CodeKey {
  readonly box: string;
  /** A UUID. */
  readonly id: string;
}

/** A code as its row has it. */
export type FoundCode = Omit<StoredAnswer, 'browser' | 'tokens'>;

/** A code about to be redeemed, and the session that comes of it, without a family. */
export interface Redemption {
  readonly code: { readonly id: string; readonly hash: string };
  readonly session: NewSession & { readonly user: number };
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** An answer and the config version of its box at that moment; version undefined: there is no such box. */
export interface Versioned<T> {
  readonly version: number | undefined;
  readonly value: T;
}

/** The statements of the token and check paths. Each throws Outage when Postgres cannot answer soon. */
export interface HotStatements {
  /** Stores a session if its box is still at its version; compare the returned version to know. */
  issue(session: NewSession): Promise<number | undefined>;
  check(key: SessionKey): Promise<Versioned<FoundSession | undefined>>;
  /** Whether there is such a family that has not ended. */
  family(key: FamilyKey): Promise<Versioned<boolean>>;
  version(box: string): Promise<number | undefined>;
  /** Whether it is this request that uses the assertion first. */
  useAssertion(use: AssertionUse): Promise<boolean>;
  /** Undefined when nobody is signed in there who may be. */
  signIn(key: SignInKey): Promise<Versioned<FoundSignIn | undefined>>;
  /**
   * Stores a code if its box is at its version and what it was decided by is as it was found: whether it did. It waits for
   * nothing, so that a no may only mean that somebody was changing something: then a transaction tells.
   */
  storeCode(code: NewCode): Promise<boolean>;
  code(key: CodeKey): Promise<Versioned<FoundCode | undefined>>;
  /** Uses a code and stores its session, if its box is at the session's version and the code still counts; as above. */
  redeem(redemption: Redemption): Promise<boolean>;
  /** Undefined where there is no such client, or no cluster that it belongs to. */
  serviceAccount(key: EntryKey): Promise<KnownEntry | undefined>;
}
