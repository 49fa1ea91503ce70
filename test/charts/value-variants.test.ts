import { expect } from 'chai';
import { isList, isObject } from '../../crds/json-value.ts';
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

describe('every value of the chart', () => {
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
});
