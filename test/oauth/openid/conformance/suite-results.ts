/** Results that the conformance suite gives a module. */
export type SuiteResult = 'PASSED' | 'REVIEW' | 'WARNING' | 'SKIPPED' | 'FAILED';

/** The version of the suite that gave these results. */
export const SUITE_VERSION = '5.2.4';

/** The result of a module that did not pass, with the reason. */
export interface OtherResult {
  readonly result: SuiteResult;
  /** Result in the Form Post plans where it is another one. */
  readonly formPost?: SuiteResult;
  /** The reason, as the beginning of a sentence. */
  readonly why: string;
}

const looked = 'REVIEW: a person looks at the page that is shown, and it is right';
const lookedAtError = 'REVIEW: a person looks at the page, which says what is wrong with the request of the app';

/** The modules about which the suite said something else than PASSED. */
export const NOT_PASSED: Readonly<Record<string, OtherResult>> = {
  'oidcc-prompt-login': { result: 'REVIEW', why: looked },
  'oidcc-max-age-1': { result: 'REVIEW', why: looked },
  'oidcc-ensure-registered-redirect-uri': { result: 'REVIEW', why: looked },
  'oidcc-ensure-request-object-with-redirect-uri': { result: 'REVIEW', why: looked },
  'oidcc-rp-initiated-logout-no-params': { result: 'REVIEW', why: looked },
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': { result: 'REVIEW', why: looked },
  'oidcc-rp-initiated-logout-only-state': { result: 'REVIEW', why: looked },
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': { result: 'REVIEW', why: lookedAtError },
  'oidcc-rp-initiated-logout-modified-id-token-hint': { result: 'REVIEW', why: lookedAtError },
  'oidcc-rp-initiated-logout-no-id-token-hint': { result: 'REVIEW', why: lookedAtError },
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': { result: 'REVIEW', why: lookedAtError },
  'oidcc-rp-initiated-logout-bad-id-token-hint': { result: 'REVIEW', why: lookedAtError },
  'oidcc-ensure-request-with-acr-values-succeeds': {
    result: 'WARNING',
    why: 'WARNING: an id_token has no `acr`',
  },
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': {
    result: 'SKIPPED',
    formPost: 'FAILED',
    why: 'SKIPPED: `request` is refused as not supported; FAILED with Form Post, whose response mode is inside of the `request`',
  },
};
