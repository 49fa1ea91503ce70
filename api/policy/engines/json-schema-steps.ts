import { isList, isObject } from '../../../crds/path.ts';
import type { FuncKeywordDefinition } from 'ajv';
import type { Steps } from '../steps.ts';

/** The keyword that {@link checkSchema} puts into every subschema: takes steps before the other keywords work. */
export const STEPS_KEYWORD = 'boxgate-steps';

/** Steps that one visit of a subschema takes: a part by the keywords it has, and parts by the size of the value. */
export interface Weight {
  readonly visit: number;
  readonly perCharacter: number;
  readonly perElement: number;
  readonly perKey: number;
}

/** Bounds what a schema may cost: references that branch or come back, loops in loops, long texts. */
export const stepsKeyword: FuncKeywordDefinition = {
  keyword: STEPS_KEYWORD,
  before: '$ref',
  errors: false,
  compile: (weight: Weight) =>
    function takeSteps(this: Steps, value: unknown): boolean {
      this.take(stepsFor(weight, value));
      return true;
    },
};

function stepsFor(weight: Weight, value: unknown): number {
  if (typeof value === 'string') return weight.visit + value.length * weight.perCharacter;
  if (isList(value)) return weight.visit + value.length * weight.perElement;
  if (weight.perKey === 0 || !isObject(value)) return weight.visit;
  return weight.visit + Object.keys(value).length * weight.perKey;
}

/** `uniqueItems` in linear time; ajv's own compares every element with every other. */
export const uniqueItemsKeyword: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: false,
  validate: function isUnique(this: Steps, demanded: boolean, list: readonly unknown[]): boolean {
    if (!demanded) return true;
    return new Set(list.map((element) => canonical(element, this))).size === list.length;
  },
};

/** Returns the same text for equal JSON values, in any order of their members. */
function canonical(value: unknown, steps: Steps): string {
  steps.take(1);
  if (isList(value)) return `[${value.map((element) => canonical(element, steps)).join()}]`;
  if (typeof value === 'string') steps.take(value.length / 64);
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key], steps)}`).join()}}`;
}
