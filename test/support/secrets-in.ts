/** Patterns of our secrets, whichever test created them, and of the passwords that tests give to people. */
const shapes: Readonly<Record<string, RegExp>> = {
  'an access token': /\bbgt_[\w-]{40}/,
  'a refresh token': /\bbgr_[\w-]{40}/,
  'a code': /\bbgc_[\w-]{30}/,
  'a client secret': /\bbgs_[\w-]{30}/,
  'a JWT': /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}/,
  'a cookie of a sign-in': /\bboxgate-[a-z0-9-]+=[\w-]{43}/,
  'a hash of a password': /\$argon2id\$v=/,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY|"d":"[\w-]{20}/,
  'a canary': /\bcanary-[a-z-]+-[\w-]{12}\b/,
  'a password': /a long enough passphrase|correct horse|another horse|another long passphrase/,
};

/** The secrets in a text, by what they are; none of them is repeated. */
export function secretsIn(text: string): readonly string[] {
  return Object.entries(shapes).flatMap(([name, shape]) => (shape.test(text) ? [name] : []));
}

/** Throws when a program has written a secret into its log, whatever the test was about. */
export function demandNoSecrets(lines: readonly string[]): void {
  const found = lines.flatMap((line, nth) => secretsIn(line).map((name) => `${name} in line ${String(nth + 1)}`));
  if (found.length > 0) throw new Error(`the log holds secrets: ${found.join(', ')}`);
}
