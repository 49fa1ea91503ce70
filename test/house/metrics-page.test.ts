import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createMetrics } from '../../api/http/server/metrics.ts';
import { createOperatorMetrics } from '../../operator/metrics.ts';
import { emptyCache } from '../../operator/reconcile/box-cache.ts';
import { machineClient } from '../operator/declare.ts';
import { NOW, resultOf } from '../operator/result-of.ts';

/** The metrics of a page in the text format of Prometheus as `name type label,label`, sorted. */
function served(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
    .map(([, name = '', type = '']) => `${name} ${type} ${labelsOf(text, name)}`.trimEnd())
    .sort();
}

/** Labels of the samples of a metric, without the one that every histogram has. */
function labelsOf(text: string, name: string): string {
  const [, labels = ''] = new RegExp(`^${name}(?:_bucket)?\\{(.*)\\}`, 'm').exec(text) ?? [];
  const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
  return names.filter((label) => label !== 'le').join(',');
}

/** The rows of a chapter of the page, likewise. */
function written(chapter: string): readonly string[] {
  const [, text = ''] = readFileSync('docs/reference/metrics.md', 'utf8').split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ', 1);
  return [...own.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) ?\| (.+) \|$/gm)]
    .map(([, name = '', type = '', labels = '']) => `${name} ${type} ${labels.replaceAll(/[` ]/g, '')}`.trimEnd())
    .sort();
}

/** Metrics of the process itself: many of them have labels only once something has happened in it. */
const isOfProcess = (row: string): boolean => /^boxgate_(process|nodejs)_/.test(row);
const withoutLabels = (row: string): string => row.split(' ').slice(0, 2).join(' ');

/** The page of an API in which everything that is counted has happened. */
async function apiPage(): Promise<string> {
  const share = {
    resource: 'argon2',
    uses: () => [{ box: 'shop', used: 1, waiting: 1 }],
    refusals: () => new Map([['shop', 1]]),
  };
  const metrics = createMetrics(
    {
      ready: () => Promise.resolve(),
      databases: () => Promise.resolve(new Map([['home', undefined]])),
      certificateEnds: () => Promise.resolve(new Map([['public', 1]])),
      boxesInMemory: () => 1,
      secretsWaiting: () => 1,
      policyFailures: () => 1,
      auditEventsDropped: () => 1,
    },
    [share],
  );
  metrics.answered('GET', '/Client', 200, 0.1);
  return (await metrics.page()).text;
}

/** The page of an operator in which everything that is counted has happened. */
async function operatorPage(): Promise<string> {
  const fields = { newer: new Set(['a']), missing: new Set<string>(), unwritable: new Set<string>() };
  const definitions = () => new Map([['Client', fields] as const]);
  const metrics = createOperatorMetrics({ leads: () => true, definitions, now: () => 0 });
  metrics.answered('get', 200);
  const box = emptyCache();
  const transitions = [{ type: 'Ready', status: 'True', lastTransitionTime: NOW }] as const;
  box.published.set('Client/a', { ...resultOf(machineClient('a')), transitions });
  metrics.passes.measure(
    () => 1,
    () => [box],
  );
  metrics.passes.begin('shop')(true);
  return (await metrics.page()).text;
}

describe('docs/reference/metrics.md', () => {
  const programs = [
    ['boxgate api', apiPage],
    ['boxgate operator', operatorPage],
  ] as const;
  for (const [chapter, page] of programs) {
    it(`R-36 lists every metric of ${chapter}, with its type and labels, and no other`, async () => {
      const found = served(await page());
      const own = found.filter((row) => !isOfProcess(row));
      expect(own.length).to.be.greaterThan(5);
      expect(written(chapter)).to.deep.equal(own);
      const process = found.filter(isOfProcess).map(withoutLabels);
      expect(process).to.include.members(written('Both programs: the process').map(withoutLabels));
    });
  }
});
