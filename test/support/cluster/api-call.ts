import { readFileSync } from 'node:fs';
import https from 'node:https';

/** One call of the Kubernetes API as a test makes it: plain, without the product's own client. */
export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The user whom it is made as, such as `system:serviceaccount:shop:author`. */
  readonly as?: string;
}

/** Answer of the API server; the body is parsed if it is JSON, and text otherwise. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const agent = new https.Agent({ keepAlive: true });

/** Calls an API server with a bearer token; rejects where it cannot be reached. */
export function apiCall(url: string, certificate: string, token: string, call: ApiCall): Promise<ApiAnswer> {
  const { method = 'GET', path, body, contentType = 'application/json', as } = call;
  const type = body === undefined ? {} : { 'Content-Type': contentType };
  const user = as === undefined ? {} : { 'Impersonate-User': as };
  return new Promise((resolve, reject) => {
    const request = https.request(
      new URL(path, url),
      {
        method,
        agent,
        ca: readFileSync(certificate),
        headers: { Authorization: `Bearer ${token}`, ...type, ...user },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body: parsed(text) }));
      },
    );
    request.on('error', reject).setTimeout(30_000, () => request.destroy(new Error(`${path}: no answer`)));
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
