import { expect } from 'chai';
import { isList, isObject } from '../../crds/path.ts';
import { startChartPlane, type ChartPlane } from './chart-plane.ts';
import { at, manifestsIn, podsOf, type Manifest } from './rendered.ts';
import { numberLike, renderTogether, valueCases, variantsOfValues } from './value-variants.ts';

/** Members of objects of Kubernetes that are texts wherever they occur, unless they are objects themselves. */
const textMembers: ReadonlySet<string> = new Set([
  ...['name', 'namespace', 'secretName', 'serviceAccountName', 'image', 'host', 'value', 'key', 'kind', 'claimName'],
  ...['storageClassName', 'priorityClassName', 'ingressClassName', 'loadBalancerClass', 'interval', 'serverName'],
]);
const mapsOfTexts: ReadonlySet<string> = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'selector']);

/** Returns a sentence for each member that no API server would take, or would take for something else. */
function faultsIn(value: unknown, place: string): readonly string[] {
  if (value === null) return [`${place} is null`];
  if (isList(value)) return value.flatMap((item, index) => faultsIn(item, `${place}[${String(index)}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${place}.${key}`;
    const isText = typeof inner === 'string' || isObject(inner) || isList(inner);
    const texts = mapsOfTexts.has(key) && isObject(inner) ? Object.entries(inner) : [];
    return [
      ...(textMembers.has(key) && !isText ? [`${here} is no text`] : []),
      ...texts.filter(([, text]) => typeof text === 'number').map(([name]) => `${here}.${name} is no text`),
      ...faultsIn(inner, here),
    ];
  });
}

/** Returns a sentence for each rule of a NetworkPolicy that would allow every port. */
function openRules({ name, object }: Manifest): readonly string[] {
  return ['ingress', 'egress'].flatMap((direction) => {
    const rules = at(object, 'spec', direction);
    const list: readonly unknown[] = isList(rules) ? rules : [];
    const isOpen = (rule: unknown): boolean => {
      const ports = at(rule, 'ports');
      return !isList(ports) || ports.length === 0;
    };
    return list.filter(isOpen).map(() => `${direction} of ${name} allows every port`);
  });
}

function faultsOfWorkloads(all: readonly Manifest[]): readonly string[] {
  const selectors = all.flatMap(({ name, object }) => {
    const selector = at(object, 'spec', 'selector', 'matchLabels');
    const labels = at(object, 'spec', 'template', 'metadata', 'labels');
    if (!isObject(selector) || !isObject(labels)) return [];
    return Object.entries(selector).every(([key, value]) => labels[key] === value) ? [] : [`${name} finds no pod`];
  });
  const variables = podsOf(all).flatMap(({ name, pod }) => {
    const env = at(pod, 'spec', 'containers', 0, 'env');
    const names = (isList(env) ? env : []).map((variable) => at(variable, 'name'));
    return new Set(names).size === names.length ? [] : [`${name} has a variable twice`];
  });
  return [...selectors, ...variables];
}

/** Returns a manifest without the comment that names its template. */
const withoutSource = (text: string): string => text.replace(/^# Source: .*$/m, '').trim();

describe('every value of the chart', () => {
  let chart: ChartPlane;
  before(async () => {
    chart = await startChartPlane();
  });
  after(() => chart.stop());

  for (const [title, variant] of Object.entries(variantsOfValues)) {
    // E-14: labels were written twice, an empty list of ports opened every port, namespaces of digits were numbers, and
    // null sections ended in nil pointers.
    it(`set to ${title} gives right objects, or is refused by its name`, async () => {
      const cases = await valueCases(variant);
      const [valid, others] = [cases.filter(({ isValid }) => isValid), cases.filter(({ isValid }) => !isValid)];
      const refusal = await renderTogether(others).then(
        () => expect.fail('none of them is refused'),
        (error: unknown) => String(error),
      );
      expect(refusal).not.to.contain('nil pointer');
      for (const { alias, setting } of others) {
        expect(refusal, `${setting} is refused`).to.match(new RegExp(`^${alias}:\n- `, 'm'));
      }
      const rendered = await renderTogether(valid);
      for (const { alias, setting } of valid) {
        const all = manifestsIn(rendered.get(alias) ?? '');
        expect(all.length, setting).to.be.above(20);
        const faults = [
          ...all
            .filter(({ kind }) => kind !== 'CustomResourceDefinition')
            .flatMap(({ kind, name, object }) => faultsIn(object, `${kind} ${name}`)),
          ...all.filter(({ kind }) => kind === 'NetworkPolicy').flatMap(openRules),
          ...faultsOfWorkloads(all),
        ];
        expect(faults, setting).to.deep.equal([]);
        const namespaces = all.map(({ object }) => at(object, 'metadata', 'namespace'));
        expect(namespaces.filter((name) => name !== undefined && name !== numberLike)).to.deep.equal([]);
      }
    });
  }

  for (const [title, variant] of Object.entries(variantsOfValues)) {
    // E-14: helm rendered these without a word, and the API server refused them, or took them for something else.
    it(`set to ${title} gives objects that an API server accepts, where the schema accepts the value`, async () => {
      const body = { metadata: { name: numberLike } };
      await chart.plane.call({ method: 'POST', path: '/api/v1/namespaces', body });
      const priority = { metadata: { name: numberLike }, value: 1 };
      await chart.plane.call({ method: 'POST', path: '/apis/scheduling.k8s.io/v1/priorityclasses', body: priority });
      const cases = (await valueCases(variant)).filter(({ isValid }) => isValid);
      const rendered = [...(await renderTogether(cases)).values()].join('');
      // Each dependency writes its own name into this label: without it most objects are the same.
      const documents = rendered.replaceAll(/helm\.sh\/chart: v\d+-/g, 'helm.sh/chart: boxgate-').split(/^---$/m);
      const different = new Set(
        documents.filter((text) => !text.includes('kind: CustomResourceDefinition')).map(withoutSource),
      );
      expect(different.size).to.be.above(50);
      expect(await chart.validate([...different].join('\n---\n'))).to.equal('');
    });
  }
});
