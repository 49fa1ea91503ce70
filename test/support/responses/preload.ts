import { compareSentResponses } from './compare-sent.ts';

// Written before the program that a test starts, into the same file.
compareSentResponses();
