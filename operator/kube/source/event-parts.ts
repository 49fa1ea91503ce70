import { plainText } from '../../../process/plain-text.ts';

/** Controller that Events name as their reporter. */
export const EVENT_REPORTER = 'boxgate.dev/operator';

/** Limits of the API server for the note and the instance of an Event, in characters. */
const longestNote = 1_000;
const longestInstance = 128;

/** Returns the note of an Event: without control characters, cut to the length that the API server takes. */
export function eventNote(text: string): string {
  const message = plainText(text);
  return message.length > longestNote ? `${message.slice(0, longestNote - 1)}…` : message;
}

/** Returns the name of an Event about an object: a part of its name that ends in a letter or digit, and `suffix`. */
export function eventName(object: string, suffix: string): string {
  return `${object.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${suffix}`;
}

/** Returns the name of a process as an Event may have it. */
export function eventInstance(instance: string): string {
  return instance.slice(0, longestInstance);
}

/** Returns a time, in milliseconds since 1970, as MicroTime (Kubernetes API conventions): Events have no other form. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
