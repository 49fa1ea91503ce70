import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

/** A client with nothing but what it needs. */
export const plain = { resourceType: 'Client', grant_types: ['client_credentials'], secret: 's3cr3t' };

/** The clients of a box over REST. */
interface RestClients {
  /** An id that no other test of the suite has used. */
  readonly fresh: () => string;
  readonly put: (id: string, body: object, headers?: Record<string, string>) => Promise<Reply>;
}

/** Starts an API for the suite around, which gets it before its first test, and stops it after the last. */
export function onRestClients(set: (api: BoxApi) => void): RestClients {
  let api: BoxApi | undefined;
  let count = 0;
  before(async () => {
    api = await startBoxApi();
    set(api);
  });
  after(() => api?.stop());

  return {
    fresh() {
      count += 1;
      return `client-${String(count)}`;
    },
    put(id, body, headers = {}) {
      if (api === undefined) throw new Error('the API is not started yet');
      return api.call('PUT', `/Client/${id}`, { body, headers });
    },
  };
}
