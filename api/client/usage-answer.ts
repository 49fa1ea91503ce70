import { isObject, type Fields } from './apply-answer.ts';
import type { BoxUsage, ClientUsage } from './desired-state.ts';
import { ManagementError } from './management-error.ts';

/** Reads the answer to a question for usage. Throws ManagementError for nonsense. */
export function usageOf(answer: unknown): BoxUsage {
  if (!isObject(answer) || !Array.isArray(answer['clients']) || typeof answer['users'] !== 'number') throw nonsense();
  const clients = answer['clients'].map((client: unknown) => (isObject(client) ? clientOf(client) : undefined));
  return { clients: clients.map((client) => client ?? fail()), users: answer['users'] };
}

function clientOf(client: Fields): ClientUsage | undefined {
  const { id, live_sessions, last_token_at, previous_secret_last_used } = client;
  if (typeof id !== 'string' || typeof live_sessions !== 'number') return undefined;
  return {
    id,
    live_sessions,
    ...(typeof last_token_at === 'string' ? { last_token_at } : {}),
    ...(typeof previous_secret_last_used === 'string' ? { previous_secret_last_used } : {}),
  };
}

function fail(): never {
  throw nonsense();
}

function nonsense(): ManagementError {
  return new ManagementError('refused', 'the API answered a usage that is not understood');
}
