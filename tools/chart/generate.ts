import { format, resolveConfig } from 'prettier';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { crdTemplate, rbacTemplate } from './copied-manifests.ts';
import { dashboardJson } from './dashboard.ts';
import { chartValues } from './values.ts';
import { valuesSchema, valuesTable, valuesYaml } from './write-values.ts';

// Run by `make generate`. The same sources always give the same bytes.
const chart = 'charts/boxgate';

writeFileSync(
  `${chart}/values.yaml`,
  `# Made from tools/chart/values.ts by \`make generate\`. Do not edit.\n${valuesYaml(chartValues)}`,
);
writeFileSync(`${chart}/values.schema.json`, await formatted(valuesSchema(chartValues)));
writeFileSync(`${chart}/files/dashboard.json`, await formatted(dashboardJson()));
writeReadme(`${chart}/README.md`);
copy('crds', 'crds', crdTemplate);
copy('operator/rbac', 'rbac', rbacTemplate);

/** Returns JSON as `make format` would write it. */
async function formatted(json: string): Promise<string> {
  return format(json, { ...(await resolveConfig('package.json')), parser: 'json' });
}

/** Writes the table of the README between its two marks. */
function writeReadme(file: string): void {
  const [begin, end] = ['<!-- values: written by make generate -->\n', '\n<!-- end of values -->'];
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  writeFileSync(file, text.slice(0, from) + valuesTable(chartValues) + text.slice(to));
}

function copy(from: string, to: string, template: (text: string) => string): void {
  mkdirSync(`${chart}/templates/${to}`, { recursive: true });
  for (const name of readdirSync(from).filter((file) => file.endsWith('.yaml'))) {
    writeFileSync(`${chart}/templates/${to}/${name}`, template(readFileSync(`${from}/${name}`, 'utf8')));
  }
}
