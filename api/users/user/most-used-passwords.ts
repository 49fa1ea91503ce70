/**
 * Checks whether a password is one of the most used (OWASP ASVS 5.0, 6.2.4), in any case of its letters. The list,
 * 49,000 long, is loaded with the first password that is set: a replica that only checks tokens does not need it.
 */
export async function isMostUsedPassword(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(password.toLowerCase());
}
