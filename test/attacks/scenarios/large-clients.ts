import type { Attack } from '../attack.ts';
import { appLoad, declareAdmin } from '../clients.ts';
import { requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

/** */
export const largeClients: Attack = {
  resource: 'memory',
  what: 'a box stores one client of almost a mebibyte after the other, and asks for a token each time',
  served: 200,
  async prepare(start) {
    const stage = await start();
    const { token } = await declareAdmin(stage, rudeBox);
    const [from, type, box] = [rudeAddress, 'application/json', `/boxes/${rudeBox}`];
    const details = { text: 'x'.repeat(1_000_000) };
    const requests = Array.from({ length: 60 }, (_, nth) => {
      const id = `large-${String(nth)}`;
      const client = { resourceType: 'Client', id, grant_types: [], details };
      const put = { method: 'PUT', path: `${box}/Client/${id}`, from, type, body: JSON.stringify(client) };
      return [
        requestText({ ...put, authorization: `Bearer ${token}` }),
        requestText({ path: `${box}/Client/${id}?_elements=id`, from, authorization: `Bearer ${token}` }),
      ];
    }).flat();
    return { victim: await appLoad(stage), attacker: { requests, connections: 8, rate: 10 } };
  },
};
