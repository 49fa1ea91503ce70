import { Ajv } from 'ajv';
import type { KeywordDefinition, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { dottedPath } from '../../../crds/path.ts';
import { PolicyFault } from './engine.ts';
import { STEPS_KEYWORD, stepsKeyword, uniqueItemsKeyword } from './json-schema-steps.ts';

type Schema = Readonly<Record<string, unknown>>;

/** One version of JSON Schema. */
export interface Dialect {
  /** Checks whether the version has a keyword. */
  readonly isKeyword: (word: string) => boolean;
  /** Returns every keyword of the version. */
  readonly keywords: () => readonly string[];
  /** Returns the fault that the version's meta-schema finds in a schema. */
  readonly faultOf: (schema: Schema) => PolicyFault | undefined;
  /** Compiles a checked schema, whose regular expressions are tested by `isFoundIn`. Throws ajv's errors. */
  readonly compile: (schema: Schema, isFoundIn: ExpressionTest) => ValidateFunction;
}

/** Checks whether the pattern of a schema is found in a text. */
export type ExpressionTest = (pattern: string, text: string) => boolean;

/** Returns the dialect that `$schema` names; 2020-12 if it is absent. Throws {@link PolicyFault} for any other. */
export function dialectOf($schema: unknown): Dialect {
  if ($schema === undefined) return draft2020;
  const dialect = typeof $schema === 'string' ? dialects.get($schema.replace(/#$/, '')) : undefined;
  if (dialect !== undefined) return dialect;
  throw new PolicyFault('schema.$schema', `must be absent or one of ${[...dialects.keys()].join(', ')}`);
}

/**
 * The formats that are known: those of JSON Schema 2020-12 §7.3 whose checks take linear time. `regex` is left out: it
 * would compile what a caller sent; `idn-*` and `iri*`: ajv has none.
 */
export const FORMATS = {
  date: fullFormats.date,
  time: fullFormats.time,
  'date-time': fullFormats['date-time'],
  duration: fullFormats.duration,
  email: fullFormats.email,
  hostname: fullFormats.hostname,
  ipv4: fullFormats.ipv4,
  ipv6: fullFormats.ipv6,
  uri: fullFormats.uri,
  'uri-reference': fullFormats['uri-reference'],
  'uri-template': fullFormats['uri-template'],
  uuid: fullFormats.uuid,
  'json-pointer': fullFormats['json-pointer'],
  'relative-json-pointer': fullFormats['relative-json-pointer'],
};

/** Longest list of `required` or `enum` that is compiled to a condition for each element; a longer one to a loop. */
export const LONGEST_UNROLLED = 20;

/** Options for compiling policies: unknown words are errors, inherited members are ignored, expressions are RE2's. */
const OPTIONS: Options = {
  strict: true,
  // These three are about style; a schema that leaves `type` out is still valid.
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowMatchingProperties: true,
  ownProperties: true,
  // An inlined definition would be compiled once more for each reference to it.
  inlineRefs: false,
  passContext: true,
  loopRequired: LONGEST_UNROLLED,
  loopEnum: LONGEST_UNROLLED,
  validateSchema: false,
  meta: false,
  messages: false,
  logger: false,
  formats: FORMATS,
};

/** The optimiser takes quadratic time: at 480 properties it took nine tenths of the compilation, and saved nothing. */
const CODE = { optimize: false };

/** Keywords of ajv or older drafts that no policy may use. `$async` would make answers promises, which are truthy. */
const REFUSED: ReadonlySet<string> = new Set([
  '$async',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
  'id',
  'nullable',
  STEPS_KEYWORD,
]);

const OUR_KEYWORDS: readonly KeywordDefinition[] = [stepsKeyword, uniqueItemsKeyword];

const draft2020 = dialect(Ajv2020);
const draft07 = dialect(Ajv);
const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', draft2020],
  ['http://json-schema.org/draft-07/schema', draft07],
]);

function dialect(Version: typeof Ajv | typeof Ajv2020): Dialect {
  // Created with the first schema: most boxes have none.
  let meta: Ajv | undefined;
  let known: ReadonlySet<string> | undefined;
  const keywords = (): ReadonlySet<string> => (known ??= keywordsOf(new Version(OPTIONS)));
  return {
    isKeyword: (word) => keywords().has(word),
    keywords: () => [...keywords()],
    faultOf(schema) {
      meta ??= new Version({ strict: false, validateFormats: false, logger: false });
      return meta.validateSchema(schema) === true ? undefined : metaFault(meta.errors?.[0], schema);
    },
    // One instance per schema: an instance keeps everything that it compiled.
    compile: (schema, isFoundIn) =>
      withOurKeywords(new Version({ ...OPTIONS, code: { ...CODE, regExp: engineOf(isFoundIn) } })).compile(schema),
  };
}

function keywordsOf(ajv: Ajv | Ajv2020): ReadonlySet<string> {
  return new Set(Object.keys(withOurKeywords(ajv).RULES.keywords).filter((word) => !REFUSED.has(word)));
}

/**
 * Returns the function with which ajv creates an expression; `code` would name it in generated files, and there are
 * none. `toString` must differ for different patterns: ajv uses the first expression for all that have the same one.
 */
function engineOf(isFoundIn: ExpressionTest) {
  return Object.assign(
    (pattern: string) => ({ test: (text: string) => isFoundIn(pattern, text), toString: () => pattern }),
    { code: 'linearRegExp' },
  );
}

function withOurKeywords<A extends Ajv | Ajv2020>(ajv: A): A {
  ajv.removeKeyword('uniqueItems');
  for (const keyword of OUR_KEYWORDS) ajv.addKeyword(keyword);
  return ajv;
}

function metaFault(error: { instancePath: string; message?: string } | undefined, schema: Schema): PolicyFault {
  const path = dottedPath(error?.instancePath ?? '', { schema });
  return new PolicyFault(path === '' ? 'schema' : `schema.${path}`, error?.message ?? 'is not a JSON Schema');
}
