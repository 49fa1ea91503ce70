import { setTimeout as sleep } from 'node:timers/promises';
import { sendForm, type Fields } from '../../oauth/requests.ts';

/** The answer of a replica to a token request. */
export interface Answer {
  readonly status: number;
  /** `error` of RFC 6749 §5.2 with its description. */
  readonly error: string;
  /** The granted scope: as requested, unless the response has another one (RFC 6749 §5.1). */
  readonly scope: string;
}

/** Milliseconds that a replica may take until it answers: the run kills and freezes replicas, and they start again. */
const patience = 180_000;

/**
 * Requests a token of one replica by client_credentials. Asks again while nobody listens, the connection breaks, or the
 * replica says that it is too busy.
 */
export async function askToken(url: string, box: string, id: string, fields: Fields): Promise<Answer> {
  const deadline = performance.now() + patience;
  for (;;) {
    const answer = await tryOnce(url, box, id, fields);
    if (answer !== undefined && answer.status !== 503 && answer.status !== 429) return answer;
    if (performance.now() > deadline) throw new Error(`${url} gives no answer: ${JSON.stringify(answer)}`);
    await sleep(50);
  }
}

async function tryOnce(url: string, box: string, id: string, fields: Fields): Promise<Answer | undefined> {
  try {
    const form = { grant_type: 'client_credentials', client_id: id, ...fields };
    const { status, body } = await sendForm(`${url}/boxes/${box}/auth/token`, form);
    const error = [body['error'], body['error_description']].filter(Boolean).join(': ');
    const scope = typeof body['scope'] === 'string' ? body['scope'] : (fields['scope'] ?? '');
    return { status, error, scope };
  } catch {
    return undefined;
  }
}
