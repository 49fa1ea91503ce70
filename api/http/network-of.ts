/**
 * What an address is counted under: an IPv6 address its /64, the smallest network that anybody is given; any other text
 * itself.
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

/** The last 32 bits may be written as an IPv4 address; they stand for two groups, which the network does not hold. */
function groupsOf(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}
