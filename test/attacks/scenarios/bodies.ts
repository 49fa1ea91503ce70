import type { Attack } from '../attack.ts';
import { appLoad } from '../clients.ts';
import { requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

/** */
export const bodies: Attack = {
  resource: 'memory',
  what: 'one address sends bodies of a mebibyte over 300 connections, without a token',
  served: 200,
  async prepare(start) {
    const stage = await start();
    await stage.declare(rudeBox, [
      { kind: 'AccessPolicy', id: 'body', engine: 'matcho', subjects: 'anyone', matcho: { body: { a: 'b' } } },
    ]);
    const body = JSON.stringify({ a: 'x'.repeat(1_000_000) });
    const parts = {
      method: 'POST',
      path: `/boxes/${rudeBox}/Client`,
      from: rudeAddress,
      type: 'application/json',
      body,
    };
    return { victim: await appLoad(stage), attacker: { requests: [requestText(parts)], connections: 300, rate: 60 } };
  },
};
