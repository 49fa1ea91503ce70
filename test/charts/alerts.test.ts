import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseJson } from '../../crds/path.ts';
import { at } from './rendered.ts';

interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly rule: unknown;
}

/** Returns every alert of the chart. */
function alerts(): readonly Alert[] {
  const rules: unknown = at(parse(readFileSync('charts/boxgate/files/alerts.yaml', 'utf8')), 'groups', 0, 'rules');
  return (Array.isArray(rules) ? rules : []).map((rule: unknown) => ({
    name: String(at(rule, 'alert')),
    expression: String(at(rule, 'expr')),
    rule,
  }));
}

/** The metrics of docs/reference/metrics.md with the series of histograms, which a test compares with the code. */
function knownSeries(): ReadonlyMap<string, readonly string[]> {
  const rows = readFileSync('docs/reference/metrics.md', 'utf8').matchAll(/^\| `(boxgate_\w+)` \| (\w+) \|([^|]*)\|/gm);
  return new Map(
    [...rows].flatMap(([, name = '', type, labels = '']) => {
      const known = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      return suffixes.map((suffix) => [name + suffix, suffix === '_bucket' ? [...known, 'le'] : known] as const);
    }),
  );
}

/** The expressions of the dashboard. */
function dashboardExpressions(): readonly string[] {
  const text = readFileSync('charts/boxgate/files/dashboard.json', 'utf8');
  return [...text.matchAll(/"expr": (".*")/g)].map(([, expression = '']) => String(parseJson(expression)));
}

/** Labels that Prometheus adds to every series. */
const targetLabels = ['job', 'instance', 'pod', 'namespace', 'container', 'endpoint', 'service'];

describe('alerts and dashboard of the chart', () => {
  const expressions = [...alerts().map(({ expression }) => expression), ...dashboardExpressions()];

  it('are both found', () => {
    expect(dashboardExpressions()).to.have.length.above(10);
  });

  it('use only metrics that the programs have, and only their labels', () => {
    const known = knownSeries();
    for (const expression of expressions) {
      for (const [, name = '', selector = ''] of expression.matchAll(/\b(boxgate_\w+)(?:\{([^}]*)\})?/g)) {
        const labels = known.get(name);
        expect(labels, `${name} in ${expression}`).to.be.an('array');
        for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
          expect([...(labels ?? []), ...targetLabels], `${label} of ${name}`).to.include(label);
        }
      }
    }
  });

  it('read counters as rates', () => {
    for (const expression of expressions) {
      for (const [counter] of expression.matchAll(/\b\w+_(?:total|count|bucket)\b/g)) {
        expect(expression).to.match(new RegExp(String.raw`(?:rate|increase)\(${counter}`));
      }
    }
  });

  it('have a name, a severity and two sentences each', () => {
    expect(alerts().length).to.be.above(8);
    for (const { name, rule } of alerts()) {
      expect(name).to.match(/^Boxgate[A-Z]\w+$/);
      expect(at(rule, 'labels', 'severity'), name).to.be.oneOf(['critical', 'warning']);
      expect(at(rule, 'annotations', 'summary'), name).to.match(/\.$/);
      expect(at(rule, 'annotations', 'description'), name).to.match(/\.$/);
    }
  });
});
