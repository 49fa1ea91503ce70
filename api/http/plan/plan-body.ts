import { Ajv } from 'ajv';
import Type from 'typebox';
import type { IncomingMessage } from 'node:http';
import { isObject, parseJson } from '../../../crds/path.ts';
import { schemaFaults } from '../../../crds/schema-faults.ts';
import { atMost } from '../../../crds/shape.ts';
import { textFaults } from '../../../crds/text.ts';
import { checkResource, rowIdOf } from '../../../crds/validate.ts';
import { plannedObject } from '../../schemas/plan.ts';
import type { PlannedChange, PlannedObject, PlannedSubject } from '../../schemas/plan.ts';
import { Problem } from '../../problem.ts';
import { planKey } from '../../apply/planned-lines.ts';
import type { WantedObject } from '../../apply/planned-lines.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { parseQuestion } from '../resources/question.ts';
import type { Question } from '../resources/question.ts';
import { createTurns } from '../../../program/scheduling.ts';

/** A request of a plan: a question, perhaps about some user of a group. */
export interface GivenRequest extends Question {
  readonly group: string | undefined;
  /** Its caller as it was given, for the answer. */
  readonly caller: PlannedSubject;
}

/** Body of a plan: the objects with distinct rows, those that are refused, and the requests to compare. */
export interface PlanBody {
  readonly objects: readonly WantedObject[];
  readonly refused: readonly PlannedChange[];
  readonly requests: readonly GivenRequest[];
}

/** Limits of a plan: bytes of its body (16 MiB), objects, and requests. */
const most = { bytes: 16_777_216, objects: 50_000, requests: 1_000 } as const;

const name = Type.String({ minLength: 1, maxLength: 253 });
const object = Type.Object({ ...plannedObject.properties, id: name, name }, { additionalProperties: false });
const matches = new Ajv({
  validateSchema: false,
  allErrors: true,
  verbose: true,
  ownProperties: true,
}).compile<PlannedObject>(object);

/** Reads the bytes of a plan. Throws Problem `unsupported-media-type`, `too-large` and `throttled`. */
export function readPlanBytes(request: IncomingMessage): Promise<Buffer> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-ndjson\s*(;|$)/i.test(type))
    throw new Problem('unsupported-media-type', 'The body must be application/x-ndjson: a JSON object on each line');
  return readBody(request, most.bytes);
}

/**
 * Parses the body of a plan; the event loop serves others meanwhile. Throws Problem `too-large`, `not-parsable` and
 * `invalid`, with the number of the line.
 */
export async function parsePlan(bytes: Buffer): Promise<PlanBody> {
  const body = createBody();
  const turn = createTurns();
  for (const line of linesOf(bytes)) {
    body.add(line);
    await turn();
  }
  return body;
}

const tooLong = new Problem(
  'too-large',
  `must have at most ${String(bodyLimits.resource)} characters: a line has one object or request`,
);

function createBody(): PlanBody & { add: (line: string) => void } {
  const objects: WantedObject[] = [];
  const refused: PlannedChange[] = [];
  const requests: GivenRequest[] = [];
  const keys = new Set<string>();
  let number = 0;

  function addObject(value: unknown): void {
    demandFit(isObject(value) ? { ...value, resource: null } : value, number);
    if (!matches(value)) {
      throw lineProblem(number, new Problem('invalid', atMost(schemaFaults(matches.errors ?? [], value))));
    }
    const { suspended, resource, ...wanted } = value;
    if (keys.has(planKey(wanted))) {
      const detail = 'another object declares this id';
      refused.push({ kind: wanted.kind, id: wanted.id, result: 'conflict', detail });
      return;
    }
    keys.add(planKey(wanted));
    const checked = checkResource(wanted.kind, resource);
    if (!checked.ok) refused.push({ kind: wanted.kind, id: wanted.id, result: 'invalid', faults: checked.faults });
    else if (rowIdOf(checked.resource) !== wanted.id)
      throw lineProblem(number, new Problem('invalid', [{ path: 'id', message: 'must be the id of the resource' }]));
    // As for an API server: a faulty object leaves its row as it is.
    objects.push({ ...wanted, resource: checked.ok && suspended === undefined ? checked.resource : undefined });
  }

  function addRequest(value: unknown): void {
    const given = isObject(value) && isObject(value['subject']) ? value['subject'] : {};
    const { group, ...subject } = given;
    if (group !== undefined && typeof group !== 'string')
      throw lineProblem(number, new Problem('invalid', [{ path: 'subject.group', message: 'must be a string' }]));
    const question = parsedQuestion(isObject(value) && group !== undefined ? { ...value, subject } : value, number);
    const { client, user } = question.subject ?? {};
    const caller = {
      ...(client === undefined ? {} : { client }),
      ...(user === undefined ? {} : { user }),
      ...(group === undefined ? {} : { group }),
    };
    requests.push({ ...question, group, caller });
  }

  return {
    objects,
    refused,
    requests,
    add(line) {
      number += 1;
      if (line.length > bodyLimits.resource) throw lineProblem(number, tooLong);
      const value = parseJson(line);
      if (isObject(value) && Object.hasOwn(value, 'object')) addObject(value['object']);
      else if (isObject(value) && Object.hasOwn(value, 'request')) addRequest(value['request']);
      else
        throw lineProblem(
          number,
          new Problem('not-parsable', 'must be a JSON object with the member `object` or `request`'),
        );
      if (objects.length > most.objects || requests.length > most.requests)
        throw new Problem(
          'too-large',
          `A plan has at most ${String(most.objects)} objects and ${String(most.requests)} requests`,
        );
    },
  };
}

/** Throws Problem `invalid` for a value that no body of a request may hold, before each entry of it is described. */
function demandFit(value: unknown, number: number): void {
  const faults = textFaults(value);
  if (faults.length > 0) throw lineProblem(number, new Problem('invalid', faults));
}

function parsedQuestion(value: unknown, number: number): Question {
  demandFit(value, number);
  try {
    return parseQuestion(value);
  } catch (error) {
    throw error instanceof Problem ? lineProblem(number, error) : error;
  }
}

function lineProblem(number: number, { code, faults }: Problem): Problem {
  return new Problem(
    code,
    faults.map(({ path, message }) => ({
      path: path === '' ? `line ${String(number)}` : `line ${String(number)}: ${path}`,
      message,
    })),
  );
}

/** Yields the lines of a body without empty ones. Bytes that are not UTF-8 become characters that JSON has nowhere. */
function* linesOf(bytes: Buffer): Generator<string> {
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(0x0a, from);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.toString('utf8', from, end).trim();
    if (line !== '') yield line;
    from = end + 1;
  }
}
