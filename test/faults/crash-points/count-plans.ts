import type { Random } from '../../support/random.ts';
import { WAYS, type Plan } from './write-log.ts';

/** Chooses plans, counts them, and tells what was counted. */
export interface PlanCount {
  /** All plans under `make faults`; else as many of them as a story gets in `npm test`. */
  some(plans: readonly Plan[]): readonly Plan[];
  /**
   * Carries out a plan; where its write did not come, then at its place among the writes, then at an earlier one.
   * Throws what was found so far together with what stopped it.
   */
  untilMet<T extends Tried>(plan: Plan, play: (plan: Plan) => Promise<T>): Promise<T>;
  /** A plan was carried out: whether its process was ended as planned, and which invariants did not hold. */
  ran(name: string, isMet: boolean, violations: readonly string[]): void;
  /**
   * A story is over in which so many writes were recorded. Throws when there was none, when a plan was not carried
   * out, or when one found a violation.
   */
  over(writes: number): void;
  /** Prints the counts. */
  report(what: string): void;
}

interface Tried {
  readonly isMet: boolean;
  readonly violations: readonly string[];
}

/**
 * Under BOXGATE_CRASH_POINTS=all every plan is run, else so many of each story, one by default. Throws for another
 * value: it would choose no plan, and every story would pass.
 */
export function countPlans(random: Random, each = process.env['BOXGATE_CRASH_POINTS'] ?? '1'): PlanCount {
  const wantsAll = each === 'all';
  if (!wantsAll && !/^[1-9]\d*$/.test(each))
    throw new Error(`BOXGATE_CRASH_POINTS must be all or a whole number from 1: ${each}`);
  const total = { writes: 0, plans: 0, violations: 0 };
  let met = 0;
  let chosen = 0;
  let faults: string[] = [];

  /** Prints a fault at once: a run of an hour may be cut before it tells what failed. */
  function tell(fault: string): void {
    if (wantsAll) process.stdout.write(`\n${fault}\n`);
  }

  return {
    some(plans) {
      const left = [...plans];
      const wanted = wantsAll ? plans.length : Math.min(Number(each), plans.length);
      const picked = wantsAll
        ? left
        : Array.from({ length: wanted }, () => left.splice(random.below(left.length), 1)).flat();
      [met, chosen, faults] = [0, picked.length, []];
      return picked;
    },
    async untilMet(plan, play) {
      const violations: string[] = [];
      const tried = async (one: Plan) => {
        try {
          const outcome = await play(one);
          violations.push(...outcome.violations);
          return outcome;
        } catch (error) {
          const what = `${plan.write}, ${plan.way}: ${error instanceof Error ? error.message : String(error)}`;
          tell(what);
          throw new Error([...faults, ...violations, what].join('\n'), { cause: error });
        }
      };
      let outcome = await tried(plan);
      for (let place = plan.place; place > 0 && !outcome.isMet; place -= 1) {
        outcome = await tried({ ...plan, place, byPlace: true });
      }
      return { ...outcome, violations };
    },
    ran(name, isMet, violations) {
      met += isMet ? 1 : 0;
      total.plans += isMet ? 1 : 0;
      total.violations += violations.length;
      for (const one of violations) tell(`${name}: ${one}`);
      faults.push(...(isMet ? [] : [`${name}: the write never came`]), ...violations.map((one) => `${name}: ${one}`));
    },
    over(writes) {
      total.writes += writes;
      if (writes === 0) faults.push('no write was recorded');
      if (wantsAll && met < writes * WAYS.length) faults.push(`${String(met)} plans for ${String(writes)} writes`);
      if (met < chosen || faults.length > 0) {
        throw new Error([`BOXGATE_SEED=${String(random.seed)}`, ...faults].join('\n'));
      }
    },
    report(what) {
      if (!wantsAll) return;
      const { writes, plans, violations } = total;
      const counts = `${String(writes)} recorded, ${String(plans)} plans run, ${String(violations)} violations`;
      process.stdout.write(`crash points, ${what}: ${counts}\n`);
    },
  };
}
