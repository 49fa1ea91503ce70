/** Characters of a line, as for code. */
const longest = 120;

/** A line that is nothing but a comment, or a part of one. */
const comment = /^[ \t]*(?:\/\/|\/\*|\*)/;

/** Returns the comment lines that are too long, each as `file:line: characters`. The formatter wraps only code. */
export function longCommentLines(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.length <= longest || !comment.test(line)) return [];
    return [`${file}:${String(index + 1)}: ${String(line.length)} characters; wrap it at ${String(longest)}`];
  });
}
