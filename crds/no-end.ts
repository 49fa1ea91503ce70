/** RFC 3339: the end of what has none yet, such as a previous secret while the present one was shown to nobody. */
export const NO_END = '9999-12-31T00:00:00.000Z';
