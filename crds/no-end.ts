/** RFC 3339: end of something that has none yet, such as a previous secret while nobody has seen the current one. */
export const NO_END = '9999-12-31T00:00:00.000Z';
