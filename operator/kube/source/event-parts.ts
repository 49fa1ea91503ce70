/** Controller that Events name as their reporter. */
export const EVENT_REPORTER = 'boxgate.dev/operator';

/** Limits of the API server for the note and the instance of an Event, in characters. */
const longestNote = 1_000;
const longestInstance = 128;

/** Returns the note of an Event, cut to the characters that the API server takes. */
export function eventNote(message: string): string {
  return message.length > longestNote ? `${message.slice(0, longestNote - 1)}…` : message;
}

/** Returns the name of a process as an Event may have it. */
export function eventInstance(instance: string): string {
  return instance.slice(0, longestInstance);
}

/** Returns a time, in milliseconds since 1970, as MicroTime (Kubernetes API conventions): Events have no other form. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
