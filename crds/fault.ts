/** A fault: the dotted field (`auth.implicit.redirect_uri`, `link[2].id`, empty for the whole) and what must be. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** Returns the sentence that a person reads: `auth.implicit.redirect_uri must be …`. */
export function faultSentence(fault: Fault): string {
  return fault.path === '' ? fault.message : `${fault.path} ${fault.message}`;
}

/** Joins sentences into one text: by a semicolon, or by a blank after a question. */
export function joinedSentences(sentences: readonly string[]): string {
  const ends = sentences.slice(0, -1).map((sentence) => (sentence.endsWith('?') ? ' ' : '; '));
  return sentences.map((sentence, nth) => `${sentence}${ends[nth] ?? ''}`).join('');
}
