import type { Attack } from '../attack.ts';
import { declareAdmin } from '../clients.ts';
import { createPerson, signInText } from '../people.ts';
import { quietAddress } from '../requests.ts';
import { quietBox } from '../stage.ts';

/** */
export const guesses: Attack = {
  resource: 'tries of an account',
  what: 'strangers at 200 addresses guess the password of one person, who signs in from a browser that has done so before',
  served: 303,
  async prepare(start) {
    const stage = await start();
    const person = await createPerson(stage, await declareAdmin(stage, quietBox));
    const requests = Array.from({ length: 200 }, (_, nth) =>
      signInText(quietBox, `198.51.100.${String(nth)}`, { email: person.email, password: `wrong ${String(nth)}` }),
    );
    const victim = { requests: [signInText(quietBox, quietAddress, person)], connections: 4, rate: 3 };
    return { victim, attacker: { requests, connections: 20, rate: 10 } };
  },
};
