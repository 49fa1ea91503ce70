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
