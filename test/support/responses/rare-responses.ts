/** Described responses that no test can bring about at will, each with the reason. */
export const RARE_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['PUT /users/{id} 409', 'others must change the user three times while it is being changed'],
]);
