import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { isList } from '../../../crds/path.ts';
import { renderChart } from '../../../tools/chart/render.ts';
import { goPeerFile, obtainGoPeers, promtool } from '../../../tools/needs/go-peers.ts';
import { obtainHelm } from '../../../tools/needs/helm.ts';
import { at, manifestOf, manifestsIn } from '../../charts/rendered.ts';
import { temporaryFolder } from '../../dev/temporary-folder.ts';
import type { TemporaryFolder } from '../../dev/temporary-folder.ts';
import { alertStories } from './alert-stories.ts';
import type { Series } from './alert-stories.ts';

const run = promisify(execFile);
const runbook = 'https://docs.example/alerts';

/** The alerts as the chart renders them, in Prometheus itself: promtool plays series to it, and compares what fires. */
describe('the alerts of the chart, in promtool', () => {
  let folder: TemporaryFolder;
  let rules: readonly unknown[] = [];

  before(async function () {
    this.timeout(0);
    const tell = (line: string): boolean => process.stderr.write(`${line}\n`);
    await obtainHelm(process.env, tell);
    await obtainGoPeers([promtool], process.env, tell);
    folder = temporaryFolder();
    const values = ['metrics.prometheusRule.enabled=true', `metrics.prometheusRule.runbookUrl=${runbook}`];
    const chart = await renderChart(values);
    const spec = at(manifestOf(manifestsIn(chart), 'PrometheusRule', 'boxgate'), 'spec');
    folder.write('rules.yaml', stringify(spec));
    const found = at(spec, 'groups', 0, 'rules');
    rules = isList(found) ? found : [];
  });
  after(() => folder.remove());

  /** Throws with what promtool says against the rules or a test of them. */
  async function promtoolOn(...parameters: readonly string[]): Promise<void> {
    await run(goPeerFile(promtool, process.env), parameters, { cwd: folder.path('.') }).catch((error: unknown) => {
      throw new Error(`${String(at(error, 'stdout'))}${String(at(error, 'stderr'))}`, { cause: error });
    });
  }

  /** Plays series, and compares what an alert has come to at each of some minutes; `fired` undefined: it is quiet. */
  async function play(series: Series, alert: string, minutes: readonly number[], fired?: object): Promise<void> {
    const expected = fired === undefined ? [] : [fired];
    const test = {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: minutes.map((minute) => ({
            eval_time: `${String(minute)}m`,
            alertname: alert,
            exp_alerts: expected,
          })),
        },
      ],
    };
    writeFileSync(folder.path('test.yaml'), stringify(test));
    await promtoolOn('test', 'rules', 'test.yaml');
  }

  it('are rules that Prometheus takes, each with a story', async () => {
    await promtoolOn('check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml');
    const names = rules.map((rule) => String(at(rule, 'alert')));
    expect(Object.keys(alertStories).sort()).to.deep.equal(names.sort());
  });

  for (const [alert, { fires, at: minute, labels, summary, quiet }] of Object.entries(alertStories)) {
    it(`${alert} fires and links its runbook, and is quiet when it should be`, async () => {
      const rule = rules.find((found) => at(found, 'alert') === alert);
      expect(readFileSync('docs/reference/alerts.md', 'utf8')).to.include(`\n## ${alert}\n`);
      await play(fires, alert, [minute], {
        exp_labels: { severity: at(rule, 'labels', 'severity'), ...labels },
        exp_annotations: {
          summary: summary ?? at(rule, 'annotations', 'summary'),
          description: at(rule, 'annotations', 'description'),
          runbook_url: `${runbook}#${alert.toLowerCase()}`,
        },
      });
      const hour = Array.from({ length: 60 }, (_, each) => each);
      for (const series of quiet) await play(series, alert, hour);
    });
  }
});
