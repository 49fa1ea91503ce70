/**
 * Returns the network that an address is counted under: for IPv6 its /64, the smallest network that anybody gets; any
 * other text itself.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [before = '', after] = address.toLowerCase().split('::', 2);
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const left = Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array.from({ length: left }, () => '0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Splits a text into groups. An IPv4 address at the end stands for two groups, outside of the network's four. */
function groupsOf(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}
