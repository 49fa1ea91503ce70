// Bare argon2id: as many hashes as asked for, so many at a time, and how long that took.
import argon2 from 'argon2';

const [count, atOnce] = process.argv.slice(2).map(Number);
if (!count || !atOnce) throw new Error('usage: argon2.ts <hashes> <at once>');

// argon2id, the library's default, with the OWASP parameters: what the product stores.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const begin = performance.now();
let left = count;
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (left-- > 0) await argon2.hash(`a secret that somebody chose ${left}`, parameters);
  }),
);
process.stdout.write(`${JSON.stringify({ count, milliseconds: performance.now() - begin })}\n`);
