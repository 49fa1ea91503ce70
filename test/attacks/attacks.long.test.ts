import { expect } from 'chai';
import { runAttack } from './run-attack.ts';
import type { AttackReport } from './run-attack.ts';
import { attacks } from './scenarios/index.ts';

/**
 * Seconds of each attack. Only of longer ones do latencies say something; a sample shows that nobody else is refused.
 */
const seconds = Number(process.env['BOXGATE_ATTACK_SECONDS'] ?? 2);
const isMeasured = seconds >= 10;
/** Limit of the victim's p99 under attack, as a multiple of its quiet p99. */
const mostOfP99 = 5;

describe('a neighbour that takes all it can get', () => {
  for (const attack of attacks) {
    it(`${attack.resource}: nobody else is refused when ${attack.what}`, async () => {
      const report = await runAttack(attack, seconds);
      if (!isMeasured) return;
      process.stdout.write(`      ${figuresOf(report)}\n`);
      const { quiet, attacked } = report;
      expect(attacked.latency.p99, 'p99 under attack, ms').to.be.at.most(mostOfP99 * quiet.latency.p99);
    });
  }
});

function figuresOf({ quiet, attacked, attacker }: AttackReport): string {
  const of = (name: 'p50' | 'p99'): string => {
    const [before, now] = [quiet.latency[name], attacked.latency[name]];
    return `${name} ${before.toFixed(1)} -> ${now.toFixed(1)} ms (${(now / before).toFixed(1)} times)`;
  };
  const statuses = JSON.stringify(attacker.statuses).replaceAll('"', '');
  return `${of('p50')}, ${of('p99')}; attacker ${statuses}, ${String(attacker.failures)} lost`;
}
