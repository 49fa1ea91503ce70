import Negotiator from 'negotiator';

/** Languages of the pages; the first is the default. */
export const LANGUAGES = ['en', 'de'] as const;

/** One of {@link LANGUAGES}. */
export type Language = (typeof LANGUAGES)[number];

/** Returns the language that an Accept-Language header prefers (RFC 9110 §12.5.4). */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  const [wanted] = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages([...LANGUAGES]);
  return LANGUAGES.find((one) => one === wanted) ?? 'en';
}
