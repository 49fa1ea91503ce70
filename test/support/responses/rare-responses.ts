const CHANGED_MEANWHILE = 'others must change the record three times while it is being changed';

/** Described responses that no test can bring about at will, each with the reason. */
export const RARE_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['PUT /users/{id} 409', CHANGED_MEANWHILE],
  ['PUT /Session/{id} 409', CHANGED_MEANWHILE],
  ['POST /$plan 409', 'the configuration of the box must change three times while it is compared'],
]);
