/** Returns the count of an operator's passes, by its own metrics. */
export async function passesOf(healthUrl: string): Promise<number> {
  const page = await (await fetch(`${healthUrl}/metrics`)).text();
  const counts = [...page.matchAll(/^boxgate_operator_pass_seconds_count\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
