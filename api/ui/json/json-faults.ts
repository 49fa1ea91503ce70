import type { Faults } from '../connection/answer.ts';
import type { Messages } from '../messages/messages.ts';
import { checkJson } from '../check-json.ts';

/** Returns the fault of a field with JSON that must not be sent, in the language of the UI; none if it is valid. */
export function jsonFaults(field: string, text: string, say: Messages, isOptional = false): Faults {
  const fault = isOptional && text.trim() === '' ? undefined : checkJson(text);
  return fault === undefined ? {} : { [field]: [say.notJson(fault)] };
}
