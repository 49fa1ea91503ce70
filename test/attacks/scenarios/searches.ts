import type { Attack, Sides, StartStage } from '../attack.ts';
import { appLoad, declareAdmin } from '../clients.ts';
import { basic, formType, requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

const sessions = 6_000;

/** */
export const searches: Attack = {
  resource: 'connections to Postgres',
  what: 'one client reads a thousand sessions and counts all of them, over 64 connections without a pause',
  served: 200,
  prepare: (start) => searchesOf('_count=1000&_total=accurate', start),
};

/** R-06, with pages that are just small enough to need no turn of their own. */
export const smallerSearches: Attack = {
  resource: 'connections to Postgres',
  what: 'one client reads a hundred sessions and counts all of them, over 64 connections without a pause',
  served: 200,
  prepare: (start) => searchesOf('_count=100&_total=accurate', start),
};

/** R-06, with searches that take a transaction and look at every session for a few. */
export const filteredSearches: Attack = {
  resource: 'connections to Postgres',
  what: 'one client searches six thousand sessions for those that were revoked, over 64 connections without a pause',
  served: 200,
  prepare: (start) => searchesOf('status=revoked', start),
};

/** Prepares requests for sessions. */
async function searchesOf(query: string, start: StartStage): Promise<Sides> {
  const stage = await start();
  const { id, secret, token } = await declareAdmin(stage, rudeBox);
  const ask = async (): Promise<void> => {
    for (let made = 0; made < sessions / 32; made += 1) {
      await fetch(`${stage.process.url}/boxes/${rudeBox}/auth/token`, {
        method: 'POST',
        headers: { Authorization: basic(id, secret), 'Content-Type': formType, 'X-Forwarded-For': rudeAddress },
        body: 'grant_type=client_credentials',
      });
    }
  };
  await Promise.all(Array.from({ length: 32 }, ask));
  const path = `/boxes/${rudeBox}/Session?${query}`;
  const requests = [requestText({ path, from: rudeAddress, authorization: `Bearer ${token}` })];
  return { victim: await appLoad(stage), attacker: { requests, connections: 64, rate: undefined } };
}
