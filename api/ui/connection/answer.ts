import type { ApiPath } from './api-path.ts';
import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { objectsOf, textOf } from './members.ts';

/** Result of a request to the API, as the UI shows it. */
export type Answer =
  | { readonly kind: 'done'; readonly status: number; readonly body: unknown; readonly headers: Headers }
  /** A 4xx; `body` is an OperationOutcome, or `{entity, errors}` of the users API. */
  | { readonly kind: 'refused'; readonly status: number; readonly body: unknown }
  | Hindrance;

/** Reason why no answer came: nothing was changed, unless the connection broke during a change. */
export type Hindrance =
  | { readonly kind: 'offline' }
  /** 429 or 5xx; seconds until another attempt makes sense, if the API says. */
  | { readonly kind: 'unavailable'; readonly seconds: number | undefined }
  | { readonly kind: 'signed-out' }
  /** Another user than before is signed in with this browser: nothing is sent in their name. */
  | { readonly kind: 'other-user' }
  /** An answer that is not the API's, such as the page of a proxy. The request may have been carried out. */
  | { readonly kind: 'unreadable'; readonly status: number };

/** Returns the object in an answer; an empty one if there is none. */
export function bodyOf(answer: Answer | undefined): JsonObject {
  return answer?.kind === 'done' && isObject(answer.body) ? answer.body : none;
}

const none: JsonObject = {};

/** A request to the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: ApiPath;
  /** JSON text. */
  readonly body?: string;
  /** The ETag that the record must still have (RFC 9110 §13.1.1). */
  readonly etag?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Sentences by field; those of no field are under ''. */
export type Faults = Readonly<Record<string, readonly string[]>>;

/** Reads the faults in the body of a refusal: an OperationOutcome, or `{entity, errors}` of the users API. */
export function faultsIn(body: unknown): Faults {
  if (!isObject(body)) return {};
  const { errors } = body;
  if (isObject(errors)) {
    return Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, [texts].flat().map(String)]));
  }
  const issues = objectsOf(body['issue']).map((issue): [string, string] => [
    fieldOf(issue),
    textOf(issue, 'diagnostics'),
  ]);
  const byField = Map.groupBy(issues, ([field]) => field);
  return Object.fromEntries([...byField].map(([field, found]) => [field, found.map(([, text]) => text)]));
}

function fieldOf({ expression }: JsonObject): string {
  return Array.isArray(expression) ? String(expression[0]) : '';
}

/** Returns the sentences of all fields that a form does not show. */
export function otherFaults(faults: Faults, shown: readonly string[]): readonly string[] {
  const isShown = (field: string): boolean => shown.some((name) => field === name || field.startsWith(`${name}[`));
  return Object.entries(faults).flatMap(([field, texts]) => (isShown(field) ? [] : texts));
}
