import { AssertionError, expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from '../../tools/bench/load/client.ts';
import type { LoadReport } from '../../tools/bench/load/plan.ts';
import type { Attack, Load } from './attack.ts';
import { startStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** Results of the victim and of the attacker. */
export interface AttackReport {
  /** The victim, left alone. */
  readonly quiet: LoadReport;
  /** The victim under attack. */
  readonly attacked: LoadReport;
  readonly attacker: LoadReport;
}

/** A machine that is busy with something else refuses at times: an attack that succeeds does so every time. */
const tries = 8;

/** Milliseconds between two tries: what keeps the machine busy, such as the start of a browser, may be over then. */
const pause = 5_000;

/**
 * Runs an attack for some seconds, after as many quiet ones. Throws when the victim was refused something in each try.
 */
export async function runAttack(attack: Attack, seconds: number): Promise<AttackReport> {
  for (let left = tries - 1; left > 0; left -= 1) {
    const report = await runOnce(attack, seconds).catch(unlessRefused);
    if (report !== undefined) return report;
    await sleep(pause);
  }
  return runOnce(attack, seconds);
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof AssertionError)) throw error;
}

async function runOnce(attack: Attack, seconds: number): Promise<AttackReport> {
  const stages: Stage[] = [];
  const [ours, theirs] = [startLoad(), startLoad()];
  try {
    const { victim, victimLater, attacker } = await attack.prepare(async (settings) => {
      const stage = await startStage(settings);
      stages.push(stage);
      return stage;
    }, seconds);
    const [stage] = stages;
    if (stage === undefined) throw new Error('the attack has started no API');
    const quiet = await ours.run(planOf(stage, victim, seconds));
    const [attacked, rude] = await Promise.all([
      ours.run(planOf(stage, victimLater ?? victim, seconds)),
      // Begins before what is counted of the victim, and ends with it.
      theirs.run({ ...planOf(stage, attacker, seconds + warmupSeconds), warmupSeconds: 0 }),
    ]);
    for (const report of [quiet, attacked]) expectServed(report, attack.served);
    expect(rude.answersWithWarmUp + rude.failures, 'requests of the attacker').to.be.greaterThan(0);
    expect(stage.process.hasEnded(), 'the process has ended').to.equal(false);
    return { quiet, attacked, attacker: rude };
  } finally {
    ours.stop();
    theirs.stop();
    for (const stage of stages) await stage.stop();
  }
}

const warmupSeconds = 1;

function planOf({ port }: Stage, { requests, connections, rate }: Load, seconds: number) {
  return {
    port,
    connections,
    requests: [...requests],
    seconds,
    warmupSeconds,
    ...(rate === undefined ? {} : { rate }),
  };
}

function expectServed(report: LoadReport, status: number): void {
  expect(report.failures, 'connections that the victim lost').to.equal(0);
  expect(Object.keys(report.statuses), JSON.stringify(report.statuses)).to.deep.equal([String(status)]);
}
