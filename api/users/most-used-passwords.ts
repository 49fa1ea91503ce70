/**
 * Whether a password is one of the most used there are (OWASP ASVS 5.0, 6.2.4), in whatever case. The list, 49,000 long, is
 * loaded with the first password that is set: a replica which only checks tokens does without it.
 */
export async function isMostUsedPassword(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(password.toLowerCase());
}
