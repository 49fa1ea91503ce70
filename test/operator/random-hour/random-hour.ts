import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { randomOf, type Random } from '../../support/random.ts';
import { createChecker, type Outcome, type Violation } from './checker.ts';
import { createCredentialReader } from './credential.ts';
import { edits, revive, type Edit } from './edits.ts';
import { faultLanes, type Fault } from './faults.ts';
import { createFleet, type Fleet, type Slot } from './fleet.ts';
import { listClients } from './found-client.ts';
import { createJournal, type Journal } from './journal.ts';
import { startObserver } from './observer.ts';
import { settle } from './settle.ts';
import type { HourStage } from './stage.ts';

/** Size and duration of a run. */
export interface HourOptions {
  readonly seed: number;
  readonly boxes: number;
  readonly clients: number;
  /** Rounds are begun until this time has passed; at least one is. */
  readonly milliseconds: number;
}

/** Result of a run. */
export interface HourReport {
  readonly rounds: number;
  /** Count of each step. */
  readonly steps: Readonly<Record<string, number>>;
  /** Count of checks by outcome. */
  readonly checks: Readonly<Record<Outcome, number>>;
  readonly violations: readonly Violation[];
  /** Expectations that did not hold after all faults were withdrawn. */
  readonly unsettled: readonly string[];
}

const editLanes = 3;
/**
 * So often an edit is tried, each time of another slot: some are being deleted, and some a skewed definition refuses.
 */
const mostTries = 2000;

/**
 * Plays rounds of edits and faults by chance, while every status is compared with both replicas. In a round each fault
 * comes once, in an order of chance, beside those of other lanes; after it all faults are withdrawn and every status
 * must become true. Ends after the first round with a violation.
 */
export async function playHour(stage: HourStage, options: HourOptions): Promise<HourReport> {
  const journal = createJournal();
  const fleet = await createFleet(stage.plane, journal, options);
  const reader = createCredentialReader(stage.plane);
  const checker = createChecker({ stage, journal, reader, secretsOf: (box, id) => fleet.secretsOf(box, id) });
  await eventually('every Client is Ready', async () => (await unready(stage)) === 0, 600_000);
  const observer = startObserver(stage.plane, checker, randomOf(options.seed));
  const began = performance.now();
  let rounds = 0;
  const unsettled: string[] = [];
  try {
    do {
      await playRound(stage, fleet, journal, randomOf(options.seed + rounds));
      rounds += 1;
      unsettled.push(...(await settle(stage, checker)));
    } while (performance.now() - began < options.milliseconds && checker.violations.length + unsettled.length === 0);
  } finally {
    await observer.stop();
  }
  const { violations } = checker;
  return { rounds, steps: journal.counts(), checks: observer.outcomes, violations, unsettled };
}

async function unready({ plane }: HourStage): Promise<number> {
  return (await listClients(plane, '')).clients.filter(({ ready }) => ready?.status !== 'True').length;
}

/** Each fault once, and edits until the last fault is over. */
async function playRound(stage: HourStage, fleet: Fleet, journal: Journal, random: Random): Promise<void> {
  const busy = new Set<Slot>();
  let faultsLeft = 1;
  const seeds = Array.from({ length: editLanes + Object.keys(faultLanes).length }, () => random.below(2 ** 31));
  const next = (): Random => randomOf(seeds.pop() ?? 0);
  const faults = Object.values(faultLanes).map(async (lane: Readonly<Record<string, Fault>>) => {
    const chance = next();
    for (const fault of shuffled(Object.values(lane), chance)) await fault({ stage, fleet, journal, random: chance });
  });
  const edited = Array.from({ length: editLanes }, () => edit(fleet, journal, busy, next(), () => faultsLeft > 0));
  try {
    await Promise.all(faults);
  } finally {
    faultsLeft = 0;
    for (const replica of stage.replicas) replica.now()?.signal('SIGCONT');
    await Promise.all(edited);
  }
}

/** Edits by chance, each kind once at least, as long as it is wanted. */
async function edit(
  fleet: Fleet,
  journal: Journal,
  busy: Set<Slot>,
  random: Random,
  isWanted: () => boolean,
): Promise<void> {
  let deck: (readonly [string, Edit])[] = [];
  let isFirst = true;
  let tries = 0;
  while (isWanted() || isFirst) {
    if (deck.length === 0) deck = shuffled(Object.entries(edits), random);
    const [next] = deck;
    const slot = fleet.slots[random.below(fleet.slots.length)];
    // One of another slot is tried where there is nothing to edit.
    tries += 1;
    if (next !== undefined && slot !== undefined && (await editSlot(next, slot, fleet, journal, busy, random))) {
      deck.shift();
      tries = 0;
    }
    if (tries > mostTries) throw new Error(`edit ${String(next?.[0])} is never taken: ${fleet.refused()}`);
    if (deck.length === 0) isFirst = false;
    await sleep(random.below(60));
  }
}

/** Edits a slot, unless somebody else does so at the moment; whether there was anything to edit. */
async function editSlot(
  [name, work]: readonly [string, Edit],
  slot: Slot,
  fleet: Fleet,
  journal: Journal,
  busy: Set<Slot>,
  random: Random,
): Promise<boolean> {
  if (busy.has(slot)) return false;
  busy.add(slot);
  try {
    if (!(await revive(slot, fleet))) return false;
    const isDone = await work(slot, fleet, random);
    if (isDone) journal.note(`edit ${name}`, '', `${slot.box}/${slot.id}`);
    return isDone;
  } finally {
    busy.delete(slot);
  }
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((value) => ({ value, place: random.fraction() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}
