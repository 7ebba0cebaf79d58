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

export const faultBody = ({ code, message }: Pick<Fault, 'code' | 'message'>): string =>
  JSON.stringify({ error: { code, message } });
