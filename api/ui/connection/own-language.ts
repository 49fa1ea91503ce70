import { refusalTexts, tooShortText } from '../../../crds/user-faults.ts';
import type { Messages } from '../messages/messages.ts';
import type { Faults } from './answer.ts';

/** Returns faults with the sentences that the UI knows in its own language; the rest is as the API says it. */
export function inOwnLanguage(faults: Faults, say: Messages): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([field, texts]) => [field, texts.map((text) => ownText(field, text, say))]),
  );
}

function ownText(field: string, text: string, say: Messages): string {
  return misspelt(text, say) ?? refusal(field, text, say);
}

/** Returns the sentence about a misspelt field or value, which the API ends with what was probably meant. */
function misspelt(text: string, say: Messages): string | undefined {
  const [, field, meantField] = UNKNOWN_FIELD.exec(text) ?? [];
  if (field !== undefined) return say.unknownField(field, meantField);
  const [, path = '', value, meant = ''] = UNKNOWN_VALUE.exec(text) ?? [];
  return value === undefined ? undefined : say.unknownValue(path, value, meant);
}

/** Sentences of `crds/schema-faults.ts`, whose hints are those of `crds/did-you-mean.ts`. */
const UNKNOWN_FIELD = /^(\S+) is not a known field(?:\. Did you mean `([^`]+)`\?)?$/;
const UNKNOWN_VALUE = /^(\S+) is not a known [\w ]+: `([^`]*)`\. Did you mean `([^`]+)`\?$/;

function refusal(field: string, text: string, say: Messages): string {
  // An OperationOutcome begins its sentence with the field.
  const message = text.startsWith(`${field} `) ? text.slice(field.length + 1) : text;
  const own = Object.entries(say.refusals).find(([name]) => ofApi.get(name) === message);
  if (own !== undefined) return own[1];
  const least = field === 'password' ? lengths.find((length) => tooShortText(length) === message) : undefined;
  return least === undefined ? text : say.tooShort(least);
}

/** Sentences of the API by the name of the refusal. */
const ofApi: ReadonlyMap<string, string> = new Map(Object.entries(refusalTexts));

/** Lengths that a box can demand of a password, up to 64. */
const lengths = Array.from({ length: 65 }, (_, length) => length);
