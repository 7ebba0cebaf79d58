/** Something the client is told, with its HTTP status. */
export class Fault extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const notFound = (message = 'there is nothing at this address'): Fault =>
  new Fault(404, 'not_found', message);
export const busy = (what: string): Fault => new Fault(503, 'busy', `${what}; try again in a moment`);
export const queueFull = (): Fault =>
  new Fault(429, 'busy', 'too many requests are waiting; try again in a moment');
export const closing = (): Fault => new Fault(503, 'closing', 'the explorer is ending');
export const clientLeft = (): Fault => new Fault(499, 'left', 'the client left');

export const faultBody = ({ code, message }: Pick<Fault, 'code' | 'message'>): string =>
  JSON.stringify({ error: { code, message } });
