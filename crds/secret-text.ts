/** RFC 6749 appendix A.2: a client secret is visible ASCII and blanks. */
export const SECRET_TEXT = '^[\\x20-\\x7e]+$';

/** Longest secret, in characters. */
export const SECRET_LENGTH = 1024;

/** Longest password of a person, in bytes of UTF-8. */
export const PASSWORD_BYTES = 4096;

const MEMORY = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-6])';

/**
 * An argon2id hash in PHC form that may be stored unchanged: m at most 65,536 KiB, t at most 5, p at most 4, so that
 * nobody can make the service compute a hash that costs seconds. Node's `argon2` writes p before t, the reference
 * implementation t before p. Text for RE2 and for JavaScript.
 */
export const ARGON2ID_HASH = `^\\$argon2id\\$v=19\\$m=${MEMORY},(t=[1-5],p=[1-4]|p=[1-4],t=[1-5])\\$[A-Za-z0-9+/]{11,86}\\$[A-Za-z0-9+/]{22,86}$`;

/** Identifiers of crypt(5), of PHC strings other than argon2 ones, of Drupal and of WordPress: `$2b$`, `$P$`. */
const DOLLAR_FORMS =
  '1|2|2[abxy]|3|5|6|7|8|9|y|gy|P|H|S|wp|apr1|md5|sha1|sha256|sha512|(bcrypt|pbkdf2|scrypt|balloon|scram)(-[a-z0-9]+)*';
/** Schemes of LDAP, Dovecot and Spring: `{SSHA}`, `{PBKDF2-SHA256}`, `{bcrypt}`. */
const SCHEMES =
  's?sha|s?md5|md4|crypt|bcrypt|pbkdf2|scrypt|argon2(d|i|id)?|blf-crypt|scram|ntlm|lanman|ldap|noop|plain|cleartext';
/** Names of Django, Werkzeug and Postgres: `pbkdf2_sha256$`, `scrypt:`, `SCRAM-SHA-256$`. */
const NAMES =
  '(pbkdf2|bcrypt|scrypt)(_sha[0-9]+)?[$]|(pbkdf2|scrypt):|argon2[$]|(unsalted_)?(md5|sha1)[$]|crypt[$]|scram-sha-[0-9]+[$]';

/**
 * Beginnings of the stored form that other systems give a password: a text that has one was copied from their database,
 * and would become the secret itself. Text for RE2 and for JavaScript.
 */
export const STORED_ELSEWHERE = `^(?i:[$](${DOLLAR_FORMS})[$,]|[{](${SCHEMES})([-@._0-9][-@._0-9A-Za-z]*)?[}]|${NAMES})`;

const ARGON2 = '$argon2';
const [storedElsewhere, argon2Hash] = [new RegExp(STORED_ELSEWHERE), new RegExp(ARGON2ID_HASH)];

/** The system whose stored form a text is: `argon2` is ours too. Undefined: the text is a password or a secret. */
export function storedForm(text: string): 'argon2' | 'elsewhere' | undefined {
  if (text.startsWith(ARGON2)) return 'argon2';
  return storedElsewhere.test(text) ? 'elsewhere' : undefined;
}

/** Checks whether a text is an argon2 hash that may not be stored as that of a client secret. */
export function isCostlyHash(text: string): boolean {
  return storedForm(text) === 'argon2' && !argon2Hash.test(text);
}
