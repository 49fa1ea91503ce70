/** A user as requests see it, with its current groups. */
export interface Person {
  readonly id: number;
  /** The email as given. */
  readonly email: string;
  /** Null: an administrator gave the email, and nobody says whether it is verified. */
  readonly email_verified: boolean | null;
  /** JSON text. */
  readonly data: string | null;
  /** Current groups, by id; null if there are none. */
  readonly groups: readonly { readonly id: number; readonly name: string }[] | null;
}
