import type { Attack } from '../attack.ts';
import { declareAdmin } from '../clients.ts';
import { createPerson, signInText } from '../people.ts';
import { quietAddress, rudeAddress } from '../requests.ts';
import { quietBox } from '../stage.ts';

/** */
export const wrongPasswords: Attack = {
  resource: 'argon2 threads',
  what: 'one address sends wrong passwords of unknown accounts to the sign-in pages of 60 boxes',
  served: 303,
  async prepare(start) {
    const stage = await start();
    const { email, password } = await createPerson(stage, await declareAdmin(stage, quietBox));
    const boxes = Array.from({ length: 60 }, (_, nth) => `rude-${String(nth)}`);
    for (const box of boxes) await declareAdmin(stage, box);
    const requests = boxes.flatMap((box) =>
      Array.from({ length: 10 }, (_, nth) => {
        const guess = { email: `unknown-${String(nth)}@mail.example`, password: `wrong ${box} ${String(nth)}` };
        return signInText(box, rudeAddress, guess);
      }),
    );
    const victim = { requests: [signInText(quietBox, quietAddress, { email, password })], connections: 4, rate: 3 };
    return { victim, attacker: { requests, connections: 20, rate: 20 } };
  },
};
