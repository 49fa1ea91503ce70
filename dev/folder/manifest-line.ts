import { Composer, LineCounter, Parser, isNode } from 'yaml';

/**
 * Returns the line (from 1) of a field in a file: the field `spec.link[2].id` of the object that begins at `line`, or
 * the nearest field around it that is there. Reads the file's text again, because that is only needed for messages.
 */
export function lineOfField(text: string, line: number, field: string): number {
  const counter = new LineCounter();
  const documents = new Composer().compose(new Parser(counter.addNewLine).parse(text));
  for (const document of documents) {
    if (counter.linePos(document.contents?.range[0] ?? 0).line !== line) continue;
    const steps = stepsOf(field);
    for (; steps.length > 0; steps.pop()) {
      const node: unknown = document.getIn(steps, true);
      if (isNode(node) && node.range) return counter.linePos(node.range[0]).line;
    }
  }
  return line;
}

/** Splits a path: `spec.link[2]["a b"]` becomes `spec`, `link`, 2, `a b`. */
function stepsOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? '') : String(JSON.parse(quoted));
  });
}
