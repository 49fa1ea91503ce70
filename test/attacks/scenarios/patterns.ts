import type { Attack } from '../attack.ts';
import { appLoad } from '../clients.ts';
import { requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

/** Texts that keep all states of the pattern busy: random, so that no state is known from before. */
function texts(): string {
  const text = (): string => Array.from({ length: 2_000 }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
  return JSON.stringify({ l: Array.from({ length: 50 }, text) });
}

/** */
export const patterns: Attack = {
  resource: 'event loop',
  what: 'a policy for anyone has a costly pattern, and strangers send texts for it',
  served: 200,
  async prepare(start) {
    const stage = await start();
    await stage.declare(rudeBox, [
      {
        kind: 'AccessPolicy',
        id: 'costly',
        engine: 'matcho',
        subjects: 'anyone',
        matcho: { body: { l: { $contains: '#a[ab]{250}[cd]' } } },
      },
    ]);
    const parts = { method: 'POST', path: `/boxes/${rudeBox}/Client`, from: rudeAddress, type: 'application/json' };
    const requests = Array.from({ length: 8 }, () => requestText({ ...parts, body: texts() }));
    return { victim: await appLoad(stage), attacker: { requests, connections: 8, rate: 5 } };
  },
};
