import type { ApiPath } from './api-path.ts';

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

/** A request to the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: ApiPath;
  /** JSON text. */
  readonly body?: string;
  /** The ETag that the record must still have (RFC 9110 §13.1.1). */
  readonly etag?: string | undefined;
  readonly signal?: AbortSignal;
}
