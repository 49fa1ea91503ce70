// A lint rule of our own: what a file exports has a sentence about it (`/** … */`), as STYLE asks.

/** @type {import('eslint').Rule.RuleModule} */
export const docOnExport = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { missing: 'An export has a doc sentence: /** what it is, its units, what it throws. */' },
  },
  create(context) {
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration && !isDocumented(context.sourceCode, node) && !isCompanion(node)) {
          context.report({ node, messageId: 'missing' });
        }
      },
    };
  },
};

function isDocumented(source, node) {
  const last = source.getCommentsBefore(node).at(-1);
  return last?.type === 'Block' && last.value.startsWith('*');
}

/**
 * `export type Client = Static<typeof Client>` directly after the documented value of the same name needs no second
 * sentence.
 */
function isCompanion(node) {
  const siblings = node.parent.body;
  const previous = siblings[siblings.indexOf(node) - 1];
  return (
    previous?.type === 'ExportNamedDeclaration' && nameOf(previous) !== undefined && nameOf(previous) === nameOf(node)
  );
}

function nameOf(node) {
  return node.declaration?.id?.name ?? node.declaration?.declarations?.[0]?.id.name;
}
