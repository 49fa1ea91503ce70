import type { Request, Response } from 'express';

/** An express handler that may wait; what it throws becomes the answer. */
export type Endpoint = (request: Request, response: Response) => Promise<void>;
