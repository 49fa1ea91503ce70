import { compareSentResponses } from './compare-sent.ts';

// Loaded before a program that a test starts (`node --import`).
compareSentResponses();
