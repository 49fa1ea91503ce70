import type { Attack } from '../attack.ts';
import { bodies } from './bodies.ts';
import { compilation } from './compilation.ts';
import { fetches } from './fetches.ts';
import { guesses } from './guesses.ts';
import { largestObjects } from './largest-objects.ts';
import { patterns } from './patterns.ts';
import { filteredSearches, searches, smallerSearches } from './searches.ts';
import { wrongPasswords } from './wrong-passwords.ts';

/** Every attack; one or more for each resource that boxes share. */
export const attacks: readonly Attack[] = [
  patterns,
  compilation,
  wrongPasswords,
  guesses,
  bodies,
  searches,
  smallerSearches,
  filteredSearches,
  fetches,
  largestObjects,
];
